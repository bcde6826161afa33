"""The receive path by layers, as subroutines over the small instruction set; scenarios are built from these parts."""
