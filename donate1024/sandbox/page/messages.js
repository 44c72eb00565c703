// How a message looks: text with its entities, a photo, the buttons. What people wrote is only ever a text node.

const TAGS = {
  bold: "b", italic: "i", underline: "u", strikethrough: "s", code: "code", pre: "pre",
  blockquote: "blockquote", expandable_blockquote: "blockquote", spoiler: "span", custom_emoji: "span",
  text_link: "a", url: "a", bot_command: "a",
};

export function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

/** The message as a bubble with its buttons; `act` says and presses for the owner of the phone. */
export function bubble(message, format, act) {
  const row = element("article", message.from.is_bot ? "message theirs" : "message mine");
  const body = row.appendChild(element("div", "bubble"));
  if (message.photo) body.append(photo(message.photo.at(-1)));
  const text = message.text ?? message.caption;
  if (text) {
    const words = body.appendChild(element("div", "text"));
    words.append(...marked(text, message.entities ?? message.caption_entities ?? [], act));
    words.append(meta(message, format));
  } else {
    body.classList.add("bare");
    body.append(meta(message, format));
  }
  for (const buttons of message.reply_markup?.inline_keyboard ?? []) {
    const line = row.appendChild(element("div", "buttons"));
    line.append(...buttons.map((button) => key(button, message, act)));
  }
  return row;
}

function meta(message, format) {
  const made = element("span", "meta");
  if (message.edit_date) made.append(element("i", "", "змінено"));
  made.append(element("time", "", format.minute(message.date)));
  if (!message.from.is_bot) made.append(element("span", "ticks", "✓✓"));
  return made;
}

function photo(size) {
  const made = element("img", "photo");
  made.src = `/control/file/${encodeURIComponent(size.file_id)}`;
  made.alt = "Світлина";
  made.width = size.width;
  made.height = size.height;
  return made;
}

/** Nodes for the text between two places, entity within entity; offsets are UTF-16 units, as in JavaScript. */
function marked(text, entities, act, from = 0, to = text.length) {
  const nodes = [];
  let at = from;
  for (let i = 0; i < entities.length; i += 1) {
    const entity = entities[i];
    const end = Math.min(entity.offset + entity.length, to);
    if (entity.offset < at) continue;
    if (entity.offset > at) nodes.push(between(text.slice(at, entity.offset), nodes));
    const inner = entities.slice(i + 1).filter((other) => other.offset < end);
    const made = dressed(entity, text.slice(entity.offset, end), act);
    made.append(...marked(text, inner, act, entity.offset, end));
    nodes.push(made);
    at = end;
  }
  if (at < to) nodes.push(between(text.slice(at, to), nodes));
  return nodes;
}

/** Text after a block begins on a new line anyway: its own line break would leave an empty one. */
function between(text, nodes) {
  return /^(PRE|BLOCKQUOTE)$/.test(nodes.at(-1)?.tagName) ? text.replace(/^\n/, "") : text;
}

function dressed(entity, text, act) {
  const made = element(TAGS[entity.type] ?? "span");
  if (entity.type === "spoiler") {
    made.className = "spoiler";
    made.onclick = () => made.classList.add("seen");
  } else if (entity.type === "bot_command") {
    made.href = "#";
    made.onclick = (event) => { event.preventDefault(); act.say(text); };
  } else if (made.tagName === "A") {
    openOutside(made, entity.url ?? text);
  }
  return made;
}

function key(button, message, act) {
  const made = element(button.url ? "a" : "button", "key", button.text);
  if (button.url) {
    made.classList.add("outside");
    openOutside(made, button.url);
  } else if (button.copy_text) {
    made.classList.add("copies");
    made.onclick = () => act.copy(button.copy_text.text);
  } else {
    made.onclick = () => act.press(message.message_id, button.callback_data, made);
  }
  return made;
}

function openOutside(link, address) {
  if (!/^(https?|tg):/i.test(address)) return;
  link.href = address;
  link.target = "_blank";
  link.rel = "noopener noreferrer";
}
