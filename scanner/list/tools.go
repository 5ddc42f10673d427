package list

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
)

// The lists that other programs write as lines of words.
var (
	// Xash3D's list of servers has lines "ip ADDRESS:PORT" and "gs ADDRESS:PORT", for its
	// two protocols. Lines with another first word, and words after the address, are
	// ignored, because later versions of the format may use them.
	xashList = wordLines("Xash3D list", func(words []string, give func(addr string, skip bool)) (addr string) {
		if len(words) < 2 || words[0] != "ip" && words[0] != "gs" {
			return ignored
		}
		give(words[1], false)
		return words[1]
	})

	// masscan -oL writes "open udp 27015 192.0.2.10 1700000000". A line that begins with
	// "banner" repeats the port of another line.
	masscanList = wordLines("masscan list", func(words []string, give func(addr string, skip bool)) (addr string) {
		switch {
		case len(words) < 4 || !slices.Contains([]string{"open", "closed", "banner"}, words[0]):
			return ""
		case words[0] != "banner":
			give(string(joinPort(words[3], words[2])), notUDP(words[1]) || !isOpen(words[0]))
		}
		return words[3]
	})

	// RustScan -g writes "192.0.2.10 -> [27015,27016]".
	rustScanList = wordLines("RustScan list", func(words []string, give func(addr string, skip bool)) (addr string) {
		if len(words) < 3 || words[1] != "->" {
			return ""
		}
		for port := range strings.SplitSeq(strings.Trim(strings.Join(words[2:], ""), "[]"), ",") {
			give(string(joinPort(words[0], port)), port == "")
		}
		return words[0]
	})

	// xml is what nmap -oX and masscan -oX write, or a web page. It is not supported.
	xml = refused("XML", isXML.Match, "<", faultXML)

	// nmap -oG writes fields that are separated by tabs, such as "Host: 192.0.2.10 (name)"
	// and "Ports: 27015/open/udp//halflife///, 27016/open|filtered/udp/////".
	nmapList = wordLines("nmap -oG", func(words []string, give func(addr string, skip bool)) (addr string) {
		host := slices.Index(words, "Host:") + 1
		if host == 0 || host == len(words) {
			return ""
		}
		_, ports, _ := strings.Cut(strings.Join(words, " "), " Ports: ")
		for item := range strings.SplitSeq(ports, ",") {
			part := strings.Split(strings.TrimSpace(item), "/")
			// If the text of a port contains a comma, the piece after the comma has no port.
			if _, f := parsePort([]byte(part[0])); f == "" && len(part) > 2 {
				give(string(joinPort(words[host], part[0])), notUDP(part[2]) || !isOpen(part[1]))
			}
		}
		return words[host]
	})
)

// ignored is what the argument of wordLines returns for a line that belongs to the list but
// has no address.
const ignored = "-"

var isXML = regexp.MustCompile(`^(\x{FEFF})?\s*<[?!A-Za-z]`)

// refused returns a format whose lists are invalid. Its argument text stands for the list.
func refused(name string, sniff func(head []byte) bool, text string, f fault) Format {
	return Format{Name: name, Sniff: sniff, Read: func(_ io.Reader, yield func(Entry) bool) error {
		yield(Entry{Line: 1, Text: []byte(text), Fault: f})
		return nil
	}}
}

// isAddress reports whether a word is an address, with or without a port.
func isAddress(word string) bool {
	n, f := parse([]byte(word))
	return f == "" && n.kind != kindBlock || f == faultIPv6
}

// wordLines returns a format whose lines are words separated by white space. Its second
// argument reads the words of one line: it calls give with each target, and sets skip for
// TCP and closed ports. It returns the line's address, or "" if the line has another
// format. The first line that is neither empty nor a comment decides whether a list has
// this format.
func wordLines(name string, read func(words []string, give func(addr string, skip bool)) (addr string)) Format {
	return Format{
		Name: name,
		Sniff: func(head []byte) bool {
			return isAddress(read(strings.Fields(string(firstLine(head))), func(string, bool) {}))
		},
		Read: func(r io.Reader, yield func(Entry) bool) (err error) {
			for line := range eachLine(r, maxLine, &err) {
				text, more := bytes.TrimSpace(line.text), true
				give := func(addr string, skip bool) {
					more = more && yield(Entry{Line: line.number, Text: []byte(addr), skip: skip})
				}
				switch {
				case line.isBlank():
				case line.fault != "":
					more = yield(Entry{Line: line.number, Text: text, Fault: line.fault})
				case read(strings.Fields(string(text)), give) == "":
					give(string(text), false)
				}
				if !more {
					return nil
				}
			}
			return err
		},
	}
}
