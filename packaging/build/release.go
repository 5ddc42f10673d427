package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

type release struct {
	version string // such as v1.2.3
	// The commit, with a + at its end if the working tree differs from it.
	commit string
	time   time.Time // time of the release; all files get it as their modification time
}

// number returns the version without the leading v. It is part of the names of packages
// and files.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// archiveName returns the name of the archive for a system, without its suffix.
func (r *release) archiveName(s system) string {
	return fmt.Sprintf("a2sscan-%s-%s-%s", r.number(), s.os, s.arch)
}

// semver matches versions as semver.org defines them. It also allows a v at the
// beginning, and leading zeros.
var semver = regexp.MustCompile(`^v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)

// newRelease determines the version, the commit and the time of a release. The time is
// SOURCE_DATE_EPOCH (reproducible-builds.org) or, if that variable is not set, the time
// of the commit.
func newRelease(version string) (*release, error) {
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		var err error
		if seconds, err = output(nil, "git", "log", "-1", "--format=%ct"); err != nil {
			return nil, fmt.Errorf("%w; outside a git clone, set SOURCE_DATE_EPOCH to the time of the files, in seconds since 1970", err)
		}
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("SOURCE_DATE_EPOCH is %q, but must be the number of seconds since 1970", seconds)
	}
	r := &release{commit: "unknown", time: time.Unix(n, 0).UTC()}
	if commit, err := output(nil, "git", "rev-parse", "HEAD"); err == nil {
		r.commit = commit
		if changed, err := output(nil, "git", "status", "--porcelain"); err == nil && changed != "" {
			r.commit += "+"
		}
	}
	// The default is the tag of the commit or, without a tag, a Go pseudo-version, which
	// sorts before all releases.
	if version == "" {
		if version, err = output(nil, "git", "describe", "--tags", "--exact-match", "--match", "v[0-9]*"); err != nil {
			version = fmt.Sprintf("v0.0.0-%s-%.12s", r.time.Format("20060102150405"), r.commit)
		}
	}
	if !semver.MatchString(version) {
		return nil, fmt.Errorf("the version is %q, but must have a form such as 1.2.3 or 1.2.3-rc.1", version)
	}
	r.version = "v" + strings.TrimPrefix(version, "v")
	return r, nil
}

// output runs a command, with the variables in env added to the environment, and
// returns what it wrote to standard output. An error contains what the command wrote to
// standard error.
func output(env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, args[0], err, strings.TrimSpace(errs.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
