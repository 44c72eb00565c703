// The page of phones: each shows one chat with the bot. Which ones is kept in the address, as chat numbers after #;
// without any, those of the people who wrote last.

import { bubble, element } from "./messages.js";

const FIRST = 7000000001;
const NAMES = ["Оля <3", "Тарас", "Марічка 🌻", "Богдан", "Соломія", "Остап", "Леся", "Юрко"];
const STATES = {
  new: "ще не знає про бота", open: "на зв’язку", blocked: "бота заблоковано",
  deactivated: "акаунт видалено", absent: "такої людини немає",
};
const HUES = [212, 152, 28, 268, 340, 190, 88, 8];
const MOST = 8; // phones that come back by themselves
const EVERY = 400; // milliseconds between two looks

const $ = (id) => document.getElementById(id);
const phones = new Map();
let known = [FIRST, FIRST + 1];
let seen = "";
// Of a link like t.me/our_bot?start=...: it waits for the phone on which it is to be opened.
let payload = new URLSearchParams(location.search).get("start");
let clock = null; // {now, taken, zone}: what the sandbox said last, and when

async function ask(path, body) {
  const answer = await fetch(path, body && { method: "POST", body: JSON.stringify(body) });
  if (answer.status === 204) return null;
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error);
  return content;
}

function chatIds() {
  const given = location.hash.slice(1).split(",").map(Number).filter(Boolean);
  return given.length ? given : [...known];
}

async function recall() {
  const wrote = (await ask(`/control/chats?wrote_last=${MOST}`)).map((chat) => chat.chat_id);
  known = [...new Set([...known, ...wrote])].sort((one, other) => one - other);
}

async function addMissing(ids) {
  const present = new Set((await ask("/control/chats")).map((chat) => chat.chat_id));
  const missing = ids.filter((id) => !present.has(id));
  const people = missing.map((id) => ({ chat_id: id, first_name: nameOf(id), state: "new" }));
  if (people.length) await ask("/control/chats", people);
}

const nameOf = (id) => NAMES[(((id - FIRST) % NAMES.length) + NAMES.length) % NAMES.length];

const format = {
  minute: (at) => when(at, { hour: "2-digit", minute: "2-digit" }),
  second: (at) => when(at, { hour: "2-digit", minute: "2-digit", second: "2-digit" }),
  day: (at) => when(at, { weekday: "long", day: "numeric", month: "long" }),
  dayShort: (at) => when(at, { day: "numeric", month: "long" }),
};

function when(at, options) {
  return new Intl.DateTimeFormat("uk-UA", { timeZone: clock.zone, ...options }).format(at * 1000);
}

class Phone {
  constructor(chat) {
    this.chat = chat;
    this.shown = new Map(); // message number: {json, node}
    this.answered = null;
    this.waiting = null;
    this.place = $("phone").content.firstElementChild.cloneNode(true);
    this.place.id = `chat${chat.chat_id}`;
    this.tab = element("a", "tab");
    this.tab.href = `#chat${chat.chat_id}`;
    this.tab.append(element("span", "name"), element("b", "unread"));
    this.tab.onclick = (event) => {
      event.preventDefault();
      this.place.scrollIntoView({ behavior: "smooth", inline: "center", block: "nearest" });
    };
    this.part = (name) => this.place.querySelector(`.${name}`);
    this.act = {
      say: (text) => this.do("say", { text }),
      press: (message_id, data, button) => this.press(message_id, data, button),
      copy: (text) => this.copy(text),
    };
    this.listen();
  }

  listen() {
    this.part("compose").onsubmit = (event) => {
      event.preventDefault();
      const input = event.target.elements.text;
      if (input.value.trim()) this.act.say(input.value.trim());
      input.value = "";
    };
    this.part("toggle").onclick = () => this.do(this.chat.state === "blocked" ? "unblock" : "block");
    this.part("big").onclick = () => {
      if (payload) this.openLink();
      else if (this.chat.state === "new") this.act.say("/start");
      else this.do("unblock");
    };
    this.part("down").onclick = () => this.toEnd("smooth");
    this.part("chat").onscroll = () => this.isAtEnd() && this.read();
  }

  async do(what, more = {}) {
    try {
      const done = await ask(`/control/${what}`, { chat_id: this.chat.chat_id, ...more });
      look();
      return done;
    } catch (error) {
      this.toast(error.message);
      return {};
    }
  }

  async openLink() {
    const text = `/start ${payload}`;
    payload = null;
    history.replaceState(null, "", location.pathname + location.hash);
    $("link").hidden = true;
    if (this.chat.state === "blocked") await this.do("unblock");
    await this.act.say(text);
  }

  async press(message_id, data, button) {
    button.classList.add("pressed");
    setTimeout(() => button.classList.remove("pressed"), 15000);
    this.waiting = { id: (await this.do("press", { message_id, data })).callback_query_id, button };
  }

  async copy(text) {
    await navigator.clipboard.writeText(text);
    this.toast(`Скопійовано: ${text}`);
  }

  toast(text) {
    const toast = this.part("toast");
    toast.textContent = text;
    toast.classList.add("up");
    clearTimeout(this.toasting);
    this.toasting = setTimeout(() => toast.classList.remove("up"), 3500);
  }

  show({ chat, messages, answer }) {
    const first = !this.shown.size;
    const wasAtEnd = this.isAtEnd();
    this.chat = chat;
    this.showOwner();
    this.showAnswer(answer, first);
    this.showMessages(messages);
    this.part("empty").hidden = messages.length > 0;
    if (first) this.lastRead = Math.max(0, ...this.shown.keys());
    if (wasAtEnd || first || messages.at(-1)?.from.is_bot === false) this.toEnd(first ? "instant" : "smooth");
    this.countUnread();
  }

  showOwner() {
    const { state, first_name: name, chat_id: id } = this.chat;
    this.place.dataset.state = state;
    this.place.style.setProperty("--hue", HUES[id % HUES.length]);
    this.part("avatar").textContent = [...(name || "?")][0];
    this.part("who").firstElementChild.textContent = name || id;
    this.part("state").textContent = STATES[state];
    this.tab.firstElementChild.textContent = name || id;
    const toggle = this.part("toggle");
    toggle.hidden = !["open", "blocked"].includes(state);
    toggle.textContent = state === "blocked" ? "Розблокувати" : "Заблокувати";
    const opens = payload && ["new", "open", "blocked"].includes(state);
    this.part("compose").hidden = state !== "open" || opens;
    this.part("big").hidden = !opens && !["new", "blocked"].includes(state);
    this.part("big").textContent = opens ? "Почати за посиланням" : state === "new" ? "Почати" : "Розблокувати";
    this.part("empty").lastElementChild.textContent =
      state === "new" ? "Натисніть «Почати», і бот привітається." : "Повідомлення з’являться тут.";
  }

  showAnswer(answer, first) {
    const json = JSON.stringify(answer);
    if (json === this.answered) return;
    this.answered = json;
    if (!answer || first) return;
    if (answer.callback_query_id === this.waiting?.id) this.waiting.button.classList.remove("pressed");
    if (answer.text && answer.show_alert) {
      $("alert").firstElementChild.textContent = answer.text;
      $("alert").showModal();
    } else if (answer.text) {
      this.toast(answer.text);
    }
  }

  showMessages(messages) {
    const list = this.part("messages");
    const kept = new Set(messages.map((message) => message.message_id));
    for (const [id, { node }] of this.shown) {
      if (!kept.has(id)) { node.remove(); this.shown.delete(id); }
    }
    for (const message of messages) {
      const json = JSON.stringify(message);
      const old = this.shown.get(message.message_id);
      if (old?.json === json) continue;
      const node = bubble(message, format, this.act);
      node.dataset.day = format.dayShort(message.date);
      if (old) old.node.replaceWith(node); else list.append(node);
      this.shown.set(message.message_id, { json, node });
    }
    let day = "";
    for (const { node } of this.shown.values()) {
      node.classList.toggle("newday", node.dataset.day !== day);
      day = node.dataset.day;
    }
  }

  isAtEnd() {
    const chat = this.part("chat");
    return chat.scrollHeight - chat.scrollTop - chat.clientHeight < 60;
  }

  toEnd(behavior) {
    const chat = this.part("chat");
    chat.scrollTo({ top: chat.scrollHeight, behavior });
    for (const image of chat.querySelectorAll("img.photo")) {
      if (!image.complete) image.addEventListener("load", () => this.toEnd("instant"), { once: true });
    }
    this.read();
  }

  isInSight() {
    const { left, right } = this.place.getBoundingClientRect();
    return !document.hidden && right > 40 && left < innerWidth - 40;
  }

  read() {
    if (!this.isInSight()) return;
    this.lastRead = Math.max(0, ...this.shown.keys());
    this.countUnread();
  }

  countUnread() {
    const unread = [...this.shown].filter(([id, { node }]) => id > this.lastRead && node.classList.contains("theirs"));
    this.tab.lastElementChild.textContent = unread.length || "";
    this.part("down").hidden = !unread.length && this.isAtEnd();
    this.part("down").firstElementChild.textContent = unread.length || "";
  }
}

function show(state) {
  const first = !phones.size;
  clock = { now: state.now, taken: performance.now(), zone: state.zone };
  $("accepted").textContent = state.accepted.toLocaleString("uk-UA");
  $("refused").textContent = state.refused.toLocaleString("uk-UA");
  for (const one of state.phones) {
    if (!phones.has(one.chat.chat_id)) {
      const phone = new Phone(one.chat);
      phones.set(one.chat.chat_id, phone);
      $("add").before(phone.place);
      $("tabs").append(phone.tab);
    }
    phones.get(one.chat.chat_id).show(one);
  }
  if (first) $("phones").scrollTo(0, 0);
  tick();
}

function tick() {
  if (!clock) return;
  const now = clock.now + (performance.now() - clock.taken) / 1000;
  $("hour").textContent = format.second(now);
  $("day").textContent = format.day(now);
  for (const phone of phones.values()) phone.part("hour").textContent = format.minute(now);
}

async function look() {
  try {
    const state = await ask(`/control/phones?chat_id=${chatIds()}&seen=${seen}`);
    if (state) { seen = state.version; show(state); }
    $("trouble").hidden = true;
  } catch {
    seen = "";
    $("trouble").hidden = false;
  }
}

async function begin() {
  $("link").hidden = !payload;
  try {
    await recall();
    await addMissing(chatIds());
  } catch { /* the first look says so */ }
  for (;;) {
    await look();
    await new Promise((resume) => { setTimeout(resume, EVERY); });
  }
}

$("morning").onclick = async () => { await ask("/control/next-morning", {}); look(); };
$("add").onclick = async () => {
  const ids = chatIds();
  ids.push(Math.max(FIRST, ...ids) + 1);
  await addMissing(ids);
  history.replaceState(null, "", `#${ids}`);
  seen = "";
  await look();
  phones.get(ids.at(-1))?.place.scrollIntoView({ behavior: "smooth", inline: "center", block: "nearest" });
};
$("phones").addEventListener("scroll", () => phones.forEach((phone) => phone.isAtEnd() && phone.read()));
document.addEventListener("visibilitychange", () => phones.forEach((phone) => phone.isAtEnd() && phone.read()));
onhashchange = () => location.reload();
setInterval(tick, 250);
begin();
