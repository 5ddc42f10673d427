package census

import "slices"

// Lower bounds of the bins: milliseconds, player slots and percent. The last bin
// has no upper bound.
var (
	roundTripBounds = []float64{0, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 125, 150, 200, 250, 300, 400, 500, 750, 1000, 2000, 5000}
	capacityBounds  = []float64{0, 1, 2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 65, 80, 100, 128, 200, 256, 500, 1000}
	fillBounds      = []float64{0, 0.000001, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 100.000001}
)

// distribution describes values, which it sorts. It returns nil if there are none.
func distribution(values []float64, bounds []float64) *Distribution {
	n := len(values)
	if n == 0 {
		return nil
	}
	slices.Sort(values)
	at := func(percent int) float64 { return values[max((n*percent+99)/100, 1)-1] }
	d := &Distribution{
		Servers: uint64(n), Min: values[0], Max: values[n-1],
		P10: at(10), P25: at(25), P50: at(50), P75: at(75), P90: at(90), P99: at(99),
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	d.Mean = round6(sum / float64(n))
	for i, from := range bounds {
		bin := Bin{From: from}
		end := n
		if i+1 < len(bounds) {
			bin.To = &bounds[i+1]
			end, _ = slices.BinarySearch(values, bounds[i+1])
		}
		start, _ := slices.BinarySearch(values, from)
		bin.Servers = uint64(end - start)
		d.Bins = append(d.Bins, bin)
	}
	return d
}

// collect returns the results of number for the servers that answered, except where
// number returns false.
func (t *table) collect(number func(r *row) (float64, bool)) []float64 {
	values := make([]float64, 0, len(t.rows))
	for _, r := range t.rows {
		if v, ok := number(r); ok && r.status.answered() {
			values = append(values, v)
		}
	}
	return values
}

func (t *table) roundTrips() *Distribution {
	return distribution(t.collect(func(r *row) (float64, bool) { return float64(r.rtt) / 1000, r.rtt > 0 }), roundTripBounds)
}

func (t *table) capacities() *Distribution {
	return distribution(t.collect(func(r *row) (float64, bool) {
		return float64(r.capacity), r.has&hasCapacity != 0
	}), capacityBounds)
}

// fills describes how full servers are, in percent. It leaves out servers without
// player slots, and servers that do not say how many people play.
func (t *table) fills() *Distribution {
	return distribution(t.collect(func(r *row) (float64, bool) {
		if r.capacity == 0 || r.has&hasPeople == 0 {
			return 0, false
		}
		return round6(float64(r.people) * 100 / float64(r.capacity)), true
	}), fillBounds)
}
