// Package chart computes charts: the positions of bars, lines, areas and countries, the
// labels of axes, and the texts of tooltips. Its templates draw them as SVG.
//
// Charts fit any width without a script. Horizontal positions are percentages of the
// chart's width, vertical ones are pixels. Lines and areas are in a nested picture that
// is stretched, so text keeps its size. The scale at the left is a separate picture
// with a fixed width.
//
// All strings may be hostile, so the templates escape them.
package chart

import "embed"

// Templates contains the templates that draw the charts.
//
//go:embed chart.html
var Templates embed.FS

// These are the vertical dimensions of a chart with axes, in pixels.
const (
	headroom = 18  // above the highest grid line, for its label
	plot     = 168 // from the highest grid line to the axis
	footroom = 24  // below the axis, for labels
	axis     = headroom + plot
	height   = axis + footroom
)

// stretch is the width of the nested picture in its own units.
const stretch = 1000
