// Package report writes a census as one HTML page that needs nothing else: no
// network, no other file.
//
// [Make] reads censuses and the stats of earlier nights; [Write] turns what they
// say into the page. Package chart draws the charts.
//
// Names come from strangers. The templates escape them for where they stand, and
// shown makes invisible characters visible. The page carries a Content-Security-Policy
// that allows its own style and its own script, by their hashes, and nothing else:
// no request, no other script, no style attribute. The page contains no player
// names. It counts the servers that answer without a challenge, and lists none.
package report
