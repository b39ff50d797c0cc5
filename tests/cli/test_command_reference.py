"""The pages of commands say what the commands' own help says."""

import pytest

from tools.command_reference import PAGES, ReferencePage, reference


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path.name)
def test_the_reference_of_commands_is_current(page: ReferencePage) -> None:
    assert page.path.read_text(encoding="utf-8") == reference(page)
