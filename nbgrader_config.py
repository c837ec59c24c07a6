"""Stock nbgrader on this course: `solutions/` is its source, `exercises/` its release.

The course's own commands (`autograder release`, `autograder grade`) do not read this file. Release
with them: nbgrader alone writes no hints and does not scan for leaks. Autograde with either.
"""

c = get_config()  # noqa: F821 (nbgrader defines it)
c.CourseDirectory.course_id = "attention"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
# nbgrader copies every other file of a chapter's folder to the learners. Beside a source stand its wrong
# and right answers (misconceptions.py); what else may lie there holds answers too.
c.CourseDirectory.ignore = ["*.py", "*.pyc", "*.txt", "*.md", "__pycache__", ".*"]
c.ExecutePreprocessor.timeout = 120  # seconds for one cell: in chapter 7 one loads a trained model and asks it
