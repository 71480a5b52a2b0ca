package main

// Main is main, for the tests outside of this package.
func Main() { main() }
