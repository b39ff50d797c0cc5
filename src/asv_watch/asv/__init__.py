"""The only package that imports asv: hooks, commands, settings, publisher."""
