package disk

// Step is called after each change of a file, with the name of the step. Tests end
// the process there, to simulate a crash. Several goroutines may call it.
var Step = func(string) {}
