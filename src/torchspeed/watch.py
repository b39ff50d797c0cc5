"""The old name of the asv plugin, which is now the package ``asv_watch``."""

from asv.util import UserError


def setup() -> None:
    """Refuse the old name; asv calls this when it has imported the plugin.

    Raises:
        asv.util.UserError: always; it names the new plugin.
    """
    raise UserError(
        "the plugin torchspeed.watch is now a package of its own: install asv-watch and write "
        '"plugins": [".asv_watch"] into asv.conf.json'
    )
