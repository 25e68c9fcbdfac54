"""A battery of settings for intervals, fixed before candidates were compared on it."""
