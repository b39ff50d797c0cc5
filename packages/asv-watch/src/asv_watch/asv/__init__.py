"""The only package that imports asv: settings, environments, result files, publisher."""
