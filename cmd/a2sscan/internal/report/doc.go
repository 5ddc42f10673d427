// Package report has the commands that evaluate complete censuses: [Stats] and [Diff]
// print text or JSON, and [Make] writes one HTML page that needs no network and no other
// file. The pages of a watch use [Style], [Charts] and [Shown], too.
//
// [Make] reads censuses and the stats of earlier nights. [Write] writes the page
// about them. charts.js draws the charts.
//
// Names of servers and maps come from strangers. The templates escape them for the place
// where they are shown, and [Shown] makes invisible characters visible. The
// Content-Security-Policy of the page allows only its own style and its own script, by
// their hashes: no request, no other script, no style attribute. The page contains no
// player names. The page counts the servers that answer without a challenge, but does not
// list them.
package report
