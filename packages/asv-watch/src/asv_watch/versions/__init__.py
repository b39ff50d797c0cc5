"""What is measured: commits of a branch, releases of a requirement, and a version of both."""
