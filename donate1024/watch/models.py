"""Signs of life of every part, as rows."""

from django.db import models
from django.db.models import F, Q


class Heartbeat(models.Model):
    """When a part last gave a sign of life, by the database's real clock: the sandbox's offset plays no part here."""

    name = models.CharField(max_length=100, unique=True)
    at = models.DateTimeField()
    since = models.DateTimeField()  # the first of the signs that came without a break
    detail = models.JSONField(default=dict)  # the loop's lag, by how much the host's clock is off, ...

    class Meta:
        constraints = [
            models.CheckConstraint(name="heartbeat_begins_before_it_goes_on", condition=Q(since__lte=F("at"))),
        ]

    def __str__(self) -> str:
        return self.name
