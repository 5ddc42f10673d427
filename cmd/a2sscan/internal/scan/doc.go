// Package scan runs one scan, from its lists to its last line.
//
//	Plan           what the flags and the configuration file say; Check finds contradictions
//	  │
//	Scan
//	  ├ OpenCheckpoint    locks the checkpoint, and reads what an earlier run saved
//	  ├ completeEarlier   runs the --on-complete program if it failed after the previous scan
//	  ├ prepare           opens databases, key, exclusions and lists, and plans the output
//	  ├ census            from here on, the scan queries targets and writes records
//	  │   ├ listen          signals and guards, which drain the scan
//	  │   ├ load            reads the lists, as far as the order needs
//	  │   └ ask             scanner.Scan passes each Result to Run.handle, which writes a record;
//	  │                     Checkpointer saves a snapshot once the output is durable up to it
//	  ├ report            writes the summary, ends the checkpoint, runs --on-complete
//	  └ verdict           the error that decides the exit code
//
// During the scan, a [Status] shows what a [Tracker] computes. The first signal that a
// [Shutdown] gets drains the scan, and the second cancels the scan. A [PlayerKey] is the
// secret key of the hashes that replace player names.
package scan
