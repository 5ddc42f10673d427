// Package chart computes charts: where bars, lines, areas and countries stand,
// what axes say, and what a tooltip shows. Its templates draw them as SVG.
//
// Charts fit any width without a script. Horizontal positions are per cent of
// the chart's width, vertical ones are pixels; lines and areas stand in a nested
// picture that is stretched. Text keeps its size. The scale at the left is a picture
// of its own, with a fixed width.
//
// All texts may be hostile: the templates escape them.
package chart

import "embed"

// Templates are the templates that draw the charts.
//
//go:embed chart.html
var Templates embed.FS

// The vertical measures of a chart with axes, in pixels.
const (
	headroom = 18  // above the highest grid line: its label
	plot     = 168 // from the highest grid line to the axis
	footroom = 24  // below the axis: labels
	axis     = headroom + plot
	height   = axis + footroom
)

// stretch is the width of the nested picture in its own units.
const stretch = 1000
