// Package watch checks servers all day, and finds out which are up, which are down, and
// what changed.
//
//	Watch.relist: lists, maintenance ──▶ Watcher.Watch, Label and Maintain
//
//	     Watcher.Next: the server that is due
//	                │
//	                ▼
//	Watch.ask ── scanner.Scan ── Result ──▶ Watcher.Answered ──▶ events
//	                                              ▲                │
//	     Watch.loop: the time ──▶ Watcher.Tick ───┘                ▼
//	                                       Watch.store ──▶ db: events, servers, hours
//	                                                         │
//	                        ┌────────────────┬───────────────┤
//	                        ▼                ▼               ▼
//	                  Watch.publish       Webhook      page: history, uptimes
//
//	     Watcher: current state ──▶ Panel, page
//
// A [Watcher] decides. It sends nothing, and gets the time as an argument. [Watch] connects
// the Watcher with a scan, a database and outputs. Each reader of the database goes at its
// own pace, so an output that stalls holds up nothing else. The [Panel] on Discord and the
// live page take the current state of the servers from the Watcher.
package watch
