// Package livepage shows what a running watch knows: pages for people, JSON for programs,
// and metrics for Prometheus. It only reads.
//
// Requests are answered from a snapshot of all servers that is at most a few seconds old, so
// that many visitors cost the watch no more than one. Names come from strangers: the
// snapshot has them in the form of report.Shown, the templates escape them, and the
// Content-Security-Policy allows only the page's own style and script, by their hashes.
package livepage
