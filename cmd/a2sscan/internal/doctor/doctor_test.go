package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode"

	"github.com/a2sscan/a2sscan/scanner"
)

// healthy returns a machine that passes every check.
func healthy() (*machine, fstest.MapFS) {
	root := fstest.MapFS{}
	for name, text := range map[string]string{
		"proc/sys/net/netfilter/nf_conntrack_max":         "262144\n",
		"proc/sys/net/netfilter/nf_conntrack_count":       "100\n",
		"proc/sys/net/netfilter/nf_conntrack_udp_timeout": "30\n",
	} {
		set(root, name, text)
	}
	return &machine{
		root:    root,
		buffers: func(recv, send int) (int, int, error) { return recv, send, nil },
		files:   func() (uint64, error) { return 1024, nil },
		disk:    func(string) (uint64, uint64, bool, error) { return 100e9, 1e6, true, nil },
		synced:  func() (bool, time.Duration, error) { return true, 5 * time.Millisecond, nil },
		measure: func(time.Duration) (float64, error) { return 1e6, nil },
		now:     func() time.Time { return time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC) },
	}, root
}

func set(root fstest.MapFS, name, text string) { root[name] = &fstest.MapFile{Data: []byte(text)} }

func ordinary() *Options {
	return &Options{Rate: scanner.DefaultRate, Timeout: time.Second, Retries: 2}
}

func (r *Report) find(check string) Finding {
	for _, f := range r.Findings {
		if f.Check == check {
			return f
		}
	}
	return Finding{}
}

func TestDoctorHealthy(t *testing.T) {
	m, _ := healthy()
	r := m.examine(ordinary())
	for _, f := range r.Findings {
		if f.Level != OK || f.Found == "" || f.Mend != nil {
			t.Errorf("%+v", f)
		}
	}
	if !r.Ready || len(r.Findings) != 8 || *r.Rate != 5000 {
		t.Errorf("%+v", r)
	}
}

// written returns a function that overwrites files of a machine. files alternates
// names and contents.
func written(files ...string) func(*machine, fstest.MapFS, *Options) {
	return func(_ *machine, root fstest.MapFS, _ *Options) {
		for file := range slices.Chunk(files, 2) {
			set(root, file[0], file[1])
		}
	}
}

// onDisk returns a function that changes the disk of a machine, the number of
// targets and the output.
func onDisk(
	free, inodes uint64, writable bool, err error, targets uint64, output string,
) func(*machine, fstest.MapFS, *Options) {
	return func(m *machine, _ fstest.MapFS, o *Options) {
		m.disk = func(string) (uint64, uint64, bool, error) { return free, inodes, writable, err }
		o.Targets, o.Output = targets, output
	}
}

func TestDoctorFindings(t *testing.T) {
	refused := errors.New("refused \x1b[31m")
	for _, test := range []struct {
		name  string
		check string
		level Level
		found string // part of the finding
		mend  string // part of the first command
		spoil func(m *machine, root fstest.MapFS, o *Options)
	}{
		{"the usual limit of buffers", "receive_buffer", Warning, "213.0 kB granted, 4.2 MB",
			"sysctl -w net.core.rmem_max=4194304", func(m *machine, _ fstest.MapFS, _ *Options) {
				m.buffers = func(int, int) (int, int, error) { return 212992, 212992, nil }
			}},
		{"the usual limit is enough to send", "send_buffer", OK, "213.0 kB granted", "",
			func(m *machine, _ fstest.MapFS, _ *Options) {
				m.buffers = func(int, int) (int, int, error) { return 212992, 212992, nil }
			}},
		{"the usual limit at a high rate", "receive_buffer", Bad, "213.0 kB granted, 23.0 MB",
			"sysctl -w net.core.rmem_max=23040000", func(m *machine, _ fstest.MapFS, o *Options) {
				o.Rate = 100e3
				m.buffers = func(int, int) (int, int, error) { return 212992, 212992, nil }
			}},
		{"a small send buffer", "send_buffer", Warning, "4.6 kB granted", "net.core.wmem_max=4194304",
			func(m *machine, _ fstest.MapFS, _ *Options) {
				m.buffers = func(int, int) (int, int, error) { return 4608, 4608, nil }
			}},
		{"no socket", "receive_buffer", Unknown, `refused \x1b[31m`, "", func(m *machine, _ fstest.MapFS, _ *Options) {
			m.buffers = func(int, int) (int, int, error) { return 0, 0, refused }
		}},

		{"conntrack is not loaded", "conntrack", OK, "not loaded", "", func(_ *machine, root fstest.MapFS, _ *Options) {
			delete(root, "proc/sys/net/netfilter/nf_conntrack_max")
		}},
		{"a small table", "conntrack", Bad, "100 of 8,192 entries", "nf_conntrack_max=131072",
			written("proc/sys/net/netfilter/nf_conntrack_max", "8192\n")},
		{"a small table, few targets", "conntrack", OK, "100 of 8,192 entries", "",
			func(_ *machine, root fstest.MapFS, o *Options) {
				set(root, "proc/sys/net/netfilter/nf_conntrack_max", "8192\n")
				o.Targets = 5000
			}},
		{"a table that is nearly enough", "conntrack", Warning, "100 of 60,000 entries", "nf_conntrack_max=131072",
			written("proc/sys/net/netfilter/nf_conntrack_max", "60000\n")},
		{"a small table that nobody uses", "conntrack", OK, "no firewall rule tracks connections", "",
			written("proc/sys/net/netfilter/nf_conntrack_max", "8192\n",
				"proc/sys/net/netfilter/nf_conntrack_count", "0\n")},
		{"a table that can't be read", "conntrack", Unknown, "can't be read", "",
			written("proc/sys/net/netfilter/nf_conntrack_count", "many\n")},

		{"few files", "files", Warning, "100 open files allowed", "ulimit -n", func(m *machine, _ fstest.MapFS, _ *Options) {
			m.files = func() (uint64, error) { return 100, nil }
		}},
		{"too few files", "files", Bad, "16 open files allowed", "ulimit -n", func(m *machine, _ fstest.MapFS, _ *Options) {
			m.files = func() (uint64, error) { return 16, nil }
		}},
		{"any number of files", "files", OK, "no limit on open files", "", func(m *machine, _ fstest.MapFS, _ *Options) {
			m.files = func() (uint64, error) { return math.MaxUint64, nil }
		}},

		{"a disk that is too small", "disk", Bad, "1.0 GB free in /data", "", onDisk(1e9, 1, true, nil, 200e3, "/data/census.ndjson")},
		{"a disk that is just enough", "disk", Warning, "1.0 GB free", "", onDisk(1e9, 1, true, nil, 150e3, "")},
		{"a disk that is enough", "disk", OK, "1.0 GB free", "", onDisk(1e9, 1, true, nil, 100e3, "")},
		{"compressed records are smaller", "disk", OK, "1.0 GB free", "", onDisk(1e9, 1, true, nil, 100e3, "/data/census.ndjson.zst")},
		{"nearly full", "disk", Bad, "1.0 MB free", "", onDisk(1e6, 1, true, nil, 0, "")},
		{"no inodes", "disk", Bad, "no free inode for a new file", "", onDisk(100e9, 0, true, nil, 0, "")},
		{"read only", "disk", Bad, "can't be written to", "", onDisk(100e9, 1, false, nil, 0, "")},
		{"no such directory", "disk", Bad, "not exist", "", onDisk(0, 0, false, fs.ErrNotExist, 0, "")},

		{"a clock that was never set", "clock", Bad, "1970-01-01", "timedatectl", func(m *machine, _ fstest.MapFS, _ *Options) {
			m.now = func() time.Time { return time.Unix(0, 0) }
		}},
		{"no NTP", "clock_sync", Warning, "the clock is not synchronised", "timedatectl", func(m *machine, _ fstest.MapFS, _ *Options) {
			m.synced = func() (bool, time.Duration, error) { return false, 0, nil }
		}},
		{"the kernel does not say", "clock_sync", Unknown, "does not report", "", func(m *machine, _ fstest.MapFS, _ *Options) {
			m.synced = func() (bool, time.Duration, error) { return false, 0, refused }
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, root := healthy()
			o := ordinary()
			test.spoil(m, root, o)
			r := m.examine(o)
			got := r.find(test.check)
			mend := strings.Join(got.Mend, "\n")
			if got.Level != test.level || !strings.Contains(got.Found, test.found) ||
				!strings.Contains(mend, test.mend) || test.mend == "" && mend != "" {
				t.Errorf("got %+v", got)
			}
			if test.level == Bad && r.Ready {
				t.Errorf("ready %v with %+v", r.Ready, got)
			}
			if text := r.Text(o, 80); strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
				t.Errorf("%q", text)
			}
		})
	}
}

// TestDoctorElsewhere: a system without Linux's files is ready, and each check that
// it does not support is reported as unknown.
func TestDoctorElsewhere(t *testing.T) {
	m, _ := healthy()
	m.root, m.files, m.disk, m.synced = nil, nil, nil, nil
	r := m.examine(ordinary())
	var unknowns []string
	for _, f := range r.Findings {
		if f.Level == Unknown && strings.Contains(f.Found, "can't check this on ") {
			unknowns = append(unknowns, f.Check)
		}
	}
	if want := []string{"conntrack", "files", "disk", "clock_sync"}; !r.Ready || !slices.Equal(unknowns, want) {
		t.Errorf("ready %v, not checked: %q", r.Ready, unknowns)
	}
}

func TestDoctorText(t *testing.T) {
	m, root := healthy()
	m.buffers = func(int, int) (int, int, error) { return 212992, 212992, nil }
	set(root, "proc/sys/net/netfilter/nf_conntrack_max", "8192\n")
	r := m.examine(ordinary())
	got := r.Text(ordinary(), 80)
	for _, want := range []string{
		"ok       files            1,024 open files allowed\n",
		"warning  receive buffer   213.0 kB granted, 4.2 MB requested\n" +
			"                          needed: 1.2 MB, for the replies that arrive in 100 ms\n" +
			"                          at this rate; the kernel drops replies that do not fit\n" +
			"                          to fix it:\n" +
			"    sudo sysctl -w net.core.rmem_max=4194304\n" +
			"    echo 'net.core.rmem_max = 4194304' | sudo tee -a /etc/sysctl.d/a2sscan.conf\n",
		"\nnot ready: 6 ok, 1 warning, 1 bad, 0 unknown\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// TestSysctl: the sysctl file allows the socket buffers that a scan without a rate
// limit requests.
func TestSysctl(t *testing.T) {
	text, err := os.ReadFile("../../../../packaging/sysctl/a2sscan.conf")
	if err != nil {
		t.Fatal(err)
	}
	recv, send, _ := scanner.Config{Rate: scanner.Off}.Buffers()
	for _, want := range []string{
		fmt.Sprintf("\nnet.core.rmem_max = %d\n", recv),
		fmt.Sprintf("\nnet.core.wmem_max = %d\n", send),
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q", want)
		}
	}
}

// TestThroughput: the level of the finding follows from the measured throughput and
// the rate of the scan, which needs half as much again as loopback alone.
func TestThroughput(t *testing.T) {
	for _, test := range []struct {
		name    string
		rate    float64
		reached float64
		err     error
		level   Level
		found   string
		need    string
	}{
		{"a rate that every machine reaches", 20e3, 0, nil, OK, "not measured", ""},
		{"enough", 600e3, 1e6, nil, OK, "1M datagrams per second", "900k"},
		{"enough for the system calls, not for the records", 700e3, 1e6, nil, Warning, "1M datagrams", "at most -r 667k"},
		{"too little", 600e3, 500e3, nil, Bad, "500k datagrams", "at most -r 333k"},
		{"no rate", 0, 1e6, nil, OK, "expect a scan to reach about 667k", ""},
		{"no loopback", 1e6, 0, errors.New("no such device"), Unknown, "no such device", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, _ := healthy()
			m.measure = func(time.Duration) (float64, error) { return test.reached, test.err }
			o := ordinary()
			o.Rate = test.rate
			r := m.examine(o)
			got := r.find("throughput")
			if got.Level != test.level || !strings.Contains(got.Found, test.found) || !strings.Contains(got.Need, test.need) ||
				got.Measured != uint64(test.reached) || test.level == Bad && r.Ready {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestMeasureLoopback: a measurement of one round sends requests and receives replies.
func TestMeasureLoopback(t *testing.T) {
	if rate, err := measureLoopback(time.Nanosecond); err != nil || rate <= 0 {
		t.Errorf("%v, %v", rate, err)
	}
}
