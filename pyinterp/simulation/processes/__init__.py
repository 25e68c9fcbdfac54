"""Data-generating processes of the literature, with what is known of them in closed form."""
