package disk

// Step is called after each change of a file, with the name of the step. Tests end
// the process there, as a crash would. Several goroutines call it.
var Step = func(string) {}
