package bench

import (
	"slices"
	"time"
)

// Series are the runs of one client in a measurement with several.
type Series []Result

// Rounds measures the workloads one after the other, n times. after, if set, is
// called with every run.
func Rounds(n int, configs []Config, after func(round int, r Result)) ([]Series, error) {
	all := make([]Series, len(configs))
	for round := range n {
		for i, c := range configs {
			r, err := Run(c)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], r)
			if after != nil {
				after(round, r)
			}
		}
	}
	return all, nil
}

// CPU is the median of what a target costs the client.
func (s Series) CPU() time.Duration { return time.Duration(s.median(cpu)) }

// Rate is the median of the servers a second.
func (s Series) Rate() float64 { return s.median((*Result).Rate) }

// SendRate is the median of the datagrams sent a second.
func (s Series) SendRate() float64 { return s.median((*Result).SendRate) }

// FleetShare is the median of the fleet's part of the processor time.
func (s Series) FleetShare() float64 { return s.median((*Result).FleetShare) }

// CPURatio is the median over the rounds of how many times as much as the
// ceiling a target costs.
func (s Series) CPURatio(ceiling Series) float64 { return s.ratio(ceiling, cpu) }

// RateRatio is the median over the rounds of the servers a second, as a part of
// the ceiling's.
func (s Series) RateRatio(ceiling Series) float64 { return s.ratio(ceiling, (*Result).Rate) }

// SendRatio is RateRatio of datagrams sent.
func (s Series) SendRatio(ceiling Series) float64 { return s.ratio(ceiling, (*Result).SendRate) }

func cpu(r *Result) float64 { return float64(r.CPU()) }

// ratio takes each ratio from one round, so that both parts are of about the
// same time.
func (s Series) ratio(ceiling Series, of func(*Result) float64) float64 {
	vs := make([]float64, len(s))
	for i := range s {
		vs[i] = of(&s[i]) / of(&ceiling[i])
	}
	return median(vs)
}

func (s Series) median(of func(*Result) float64) float64 {
	vs := make([]float64, len(s))
	for i := range s {
		vs[i] = of(&s[i])
	}
	return median(vs)
}

func median(vs []float64) float64 {
	slices.Sort(vs)
	if n := len(vs); n%2 == 0 {
		return (vs[n/2-1] + vs[n/2]) / 2
	}
	return vs[len(vs)/2]
}
