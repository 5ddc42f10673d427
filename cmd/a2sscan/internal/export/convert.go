package export

import (
	"encoding/binary"
	"io"
	"runtime"

	"github.com/parquet-go/parquet-go/format"

	"github.com/a2sscan/a2sscan/sink/record"
)

// limits are the sizes of the parts of a file. A page holds complete rows, so one long
// row may exceed them.
type limits struct {
	groupBytes int // of records in a row group
	pageSlots  int // values and nulls in a page
	pageBytes  int // of values in a page
}

// usual has the limits that Export uses. They keep the row groups in memory small.
var usual = limits{groupBytes: 16 << 20, pageSlots: 32 << 10, pageBytes: 1 << 20}

// mostWorkers is the maximum number of workers. It bounds the memory, because each
// worker holds a row group.
const mostWorkers = 4

func workers() int { return min(runtime.GOMAXPROCS(0), mostWorkers) }

// converter converts records to row groups, on several goroutines.
type converter struct {
	limits  limits
	empty   *format.FileMetaData // of a file without rows
	leaves  [][]string           // paths of the columns
	packers []*packer
	jobs    chan *batch
	free    []*batch
}

// batch has the packed rows of a row group and, once a worker has converted them, the
// row group.
type batch struct {
	rows []byte
	ends []int
	size int // of the records, in bytes

	group format.RowGroup
	pages []byte
	done  chan struct{}
}

// newConverter starts the workers. They end when the converter is closed.
func newConverter(flat bool, l limits) (*converter, error) {
	schema := columnTree(flat).schema()
	empty, err := emptyFile(schema)
	if err != nil {
		return nil, err
	}
	c := &converter{limits: l, empty: empty, leaves: schema.Columns(), jobs: make(chan *batch, workers())}
	for i := range workers() {
		e, err := newEncoder(l)
		if err != nil {
			return nil, err
		}
		trees := [2]*node{columnTree(flat), columnTree(flat)}
		for _, t := range trees {
			t.schema()
		}
		c.packers = append(c.packers, newPacker(i, trees[0], len(c.leaves)))
		defer func() { go c.work(e, &rows{root: trees[1], packers: c.packers}) }()
	}
	return c, nil
}

func (c *converter) close() { close(c.jobs) }

// columnTree returns the columns of a table.
func columnTree(flat bool) *node {
	if flat {
		return flatTree(record.Columns())
	}
	return tree(record.Columns())
}

// work converts batches.
func (c *converter) work(e *encoder, r *rows) {
	for b := range c.jobs {
		b.convert(e, r)
		b.done <- struct{}{}
	}
}

func (b *batch) convert(e *encoder, r *rows) {
	r.reset()
	from := 0
	for _, end := range b.ends {
		r.add(b.rows[from:end])
		from = end
	}
	e.out = b.pages
	b.group = e.rowGroup(r)
	b.pages = e.out
}

// batch returns an empty batch.
func (c *converter) batch() *batch {
	last := len(c.free) - 1
	if last < 0 {
		return &batch{done: make(chan struct{}, 1)}
	}
	b := c.free[last]
	c.free = c.free[:last]
	b.rows, b.ends, b.size = b.rows[:0], b.ends[:0], 0
	return b
}

// parquetTable writes a Parquet file.
type parquetTable struct {
	by     *converter
	file   *parquetFile
	filled *batch   // the records of the next row group
	queue  []*batch // the row groups that are being converted, in order
}

func newParquet(out io.Writer, by *converter) (*parquetTable, error) {
	f, err := newParquetFile(out, by.empty, by.leaves)
	return &parquetTable{by: by, file: f, filled: by.batch()}, err
}

// add adds a packed row.
func (p *parquetTable) add(row []byte) error {
	size, _ := binary.Uvarint(row[1:])
	if len(p.filled.ends) > 0 && p.filled.size+int(size) > p.by.limits.groupBytes {
		if err := p.send(); err != nil {
			return err
		}
	}
	b := p.filled
	b.rows = append(b.rows, row...)
	b.ends = append(b.ends, len(b.rows))
	b.size += int(size)
	return nil
}

// send hands the filled batch to the workers. Then it writes converted row groups until
// at most workers() batches are in the queue.
func (p *parquetTable) send() error {
	p.by.jobs <- p.filled
	p.queue = append(p.queue, p.filled)
	for len(p.queue) > workers() {
		if err := p.receive(); err != nil {
			return err
		}
	}
	p.filled = p.by.batch()
	return nil
}

// receive waits for the first row group of the queue and writes it.
func (p *parquetTable) receive() error {
	b := p.queue[0]
	p.queue = p.queue[1:]
	<-b.done
	err := p.file.rowGroup(b.group, b.pages)
	p.by.free = append(p.by.free, b)
	return err
}

func (p *parquetTable) close() error {
	if len(p.filled.ends) > 0 {
		if err := p.send(); err != nil {
			return err
		}
	}
	for len(p.queue) > 0 {
		if err := p.receive(); err != nil {
			return err
		}
	}
	p.by.free = append(p.by.free, p.filled)
	return p.file.close()
}
