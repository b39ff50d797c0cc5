"""Results that come from or go to other places: checked, merged, exported."""
