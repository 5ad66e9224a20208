"""What a person or a CI server reads of a run: report.html and junit.xml."""
