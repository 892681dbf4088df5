"""What every rule needs: clocks as intervals, a group as its facts show it, the rules that all protocols share."""
