"""docs/commands.md says what the commands' own help says."""

from tools.command_reference import PAGE, command_reference


def test_the_reference_of_commands_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == command_reference()
