"""Learn: short lessons on missing data. Read, guess, see the solution."""

from dashboard.learn.view import show_lessons

show_lessons()
