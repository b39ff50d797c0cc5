"""Everything that runs outside the measured process; nothing here imports torch.

It serves any asv project: with ``"plugins": [".torchspeed.watch"]`` in its asv.conf.json, `asv`
stores and publishes as described in ``docs/other-projects.md``.
"""


def setup() -> None:
    """Load both plugins; asv calls this when it has imported the package.

    Raises:
        asv.util.UserError: The installed asv is not one that this can work with.
    """
    # The package itself is imported by everything below it, which must not import asv.
    from torchspeed.watch.asv import hooks, publisher  # noqa: PLC0415

    hooks.setup()
    publisher.setup()
