from django.apps import AppConfig


class WiringConfig(AppConfig):
    name = "donate1024"

    def ready(self) -> None:
        # Without it a task called from the web or a command would go to Celery's default broker.
        import donate1024.celery  # noqa: F401, PLC0415
