"""Values, Markdown and messages as people read them."""
