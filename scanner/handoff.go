package scanner

// handoff takes outcomes from the loop to the finisher, in blocks, without ever
// making the loop wait. It also returns the memory of the blocks to the loop.
type handoff struct {
	finisher *finisher
	pool     *pool
	outcomes []outcome   // the block that is being filled
	backlog  []block     // blocks that the finisher has no room for
	spare    [][]outcome // empty blocks
	waiting  int         // outcomes that the caller's function has not processed
	limit    int         // maximum of waiting; when it is reached, no new target is started
}

func newHandoff(f *finisher, p *pool, limit int) *handoff {
	return &handoff{finisher: f, pool: p, limit: limit, outcomes: make([]outcome, 0, blockLen)}
}

// full reports whether too many outcomes wait for the caller's function.
func (h *handoff) full() bool { return h.waiting >= h.limit }

// add appends an outcome to the block that is being filled.
func (h *handoff) add(o outcome) {
	h.outcomes = append(h.outcomes, o)
	h.waiting++
	if len(h.outcomes) == blockLen {
		h.seal(nil)
	}
}

// seal moves the block that is being filled to the backlog, with the snapshot unless
// that is nil. The snapshot covers the outcomes up to the end of the block.
func (h *handoff) seal(snapshot *Snapshot) {
	if len(h.outcomes) == 0 && snapshot == nil {
		return
	}
	h.backlog = append(h.backlog, block{h.outcomes, snapshot})
	if n := len(h.spare); n > 0 {
		h.outcomes = h.spare[n-1]
		h.spare = h.spare[:n-1]
	} else {
		h.outcomes = make([]outcome, 0, blockLen)
	}
}

// offer passes blocks to the finisher as long as it has room. It passes on a block
// that is not full only if calm is set, which means that the loop sent nothing in this
// turn.
func (h *handoff) offer(calm bool) {
	if calm {
		h.seal(nil)
	}
	n := 0
	for n < len(h.backlog) && h.offerOne(h.backlog[n]) {
		n++
	}
	left := copy(h.backlog, h.backlog[n:])
	clear(h.backlog[left:])
	h.backlog = h.backlog[:left]
}

func (h *handoff) offerOne(b block) bool {
	select {
	case h.finisher.blocks <- b:
		return true
	default:
		return false
	}
}

// snapshotWaits reports whether a snapshot is still in the backlog.
func (h *handoff) snapshotWaits() bool {
	for i := range h.backlog {
		if h.backlog[i].snapshot != nil {
			return true
		}
	}
	return false
}

// collect takes back the blocks that the finisher has processed.
func (h *handoff) collect() {
	for {
		select {
		case b := <-h.finisher.back:
			h.recycle(b)
		default:
			return
		}
	}
}

// recycle takes back the memory of a block and of its answers. The outcomes in it no
// longer count as waiting.
func (h *handoff) recycle(block []outcome) {
	for i := range block {
		if a := block[i].answer; a != nil {
			h.pool.recycle(a)
		}
		block[i] = outcome{}
	}
	h.waiting -= len(block)
	h.spare = append(h.spare, block[:0])
}

// end passes all remaining blocks to the finisher, and the last snapshot after
// them. It returns when the caller's function has processed everything.
func (h *handoff) end(last *Snapshot) {
	h.seal(last)
	for _, b := range h.backlog {
		h.give(b)
	}
	close(h.finisher.blocks)
	for {
		select {
		case b := <-h.finisher.back:
			h.recycle(b)
		case <-h.finisher.done:
			return
		}
	}
}

// give passes a block to the finisher and waits until there is room for it.
func (h *handoff) give(b block) {
	for {
		select {
		case h.finisher.blocks <- b:
			return
		case back := <-h.finisher.back:
			h.recycle(back)
		}
	}
}
