"""The published site: pages, data files, figures and the asv plugin that writes them."""
