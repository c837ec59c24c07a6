"""Attention, Step by Step: the exercises' grader, for learners (`check`) and teachers (`grade`)."""

__version__ = "0.1.0"
