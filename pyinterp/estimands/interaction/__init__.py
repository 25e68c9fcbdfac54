"""How much the effect of some features depends on others: `h_statistic` and `vint`."""
