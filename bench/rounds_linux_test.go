package bench

import (
	"slices"
	"time"
)

// Series holds the runs of one client in a measurement with several clients.
type Series []Result

// Rounds measures the workloads in turn, n times. If after is not nil, Rounds calls
// it after every run.
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

// CPU returns the median of the client's processor time per target.
func (s Series) CPU() time.Duration { return time.Duration(s.median(cpu)) }

// Rate returns the median of the servers completed per second.
func (s Series) Rate() float64 { return s.median((*Result).Rate) }

// SendRate returns the median of the datagrams sent per second.
func (s Series) SendRate() float64 { return s.median((*Result).SendRate) }

// FleetShare returns the median of the fleet's share of the processor time.
func (s Series) FleetShare() float64 { return s.median((*Result).FleetShare) }

// CPURatio returns the median, over the rounds, of the processor time per target
// relative to the ceiling's.
func (s Series) CPURatio(ceiling Series) float64 { return s.ratio(ceiling, cpu) }

// RateRatio returns the median, over the rounds, of the servers per second relative
// to the ceiling's.
func (s Series) RateRatio(ceiling Series) float64 { return s.ratio(ceiling, (*Result).Rate) }

// SendRatio is RateRatio for datagrams sent.
func (s Series) SendRatio(ceiling Series) float64 { return s.ratio(ceiling, (*Result).SendRate) }

func cpu(r *Result) float64 { return float64(r.CPU()) }

// ratio computes each ratio within one round, in which both values were measured at
// about the same time, and returns the median.
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
