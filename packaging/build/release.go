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

// release is the version, the commit and the time of a build.
type release struct {
	version string    // such as v1.2.3
	commit  string    // with a + at its end if the working tree differs from it
	time    time.Time // the modification time of all files; see readTime
}

// number returns the version without its v. It is part of the names of packages and
// files.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// semver matches versions as semver.org defines them. It also allows a v at the
// beginning, and leading zeros.
var semver = regexp.MustCompile(`^v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)

// newRelease determines the version, the commit and the time of a release. If
// version is empty, it uses the result of ownVersion.
func newRelease(version string) (*release, error) {
	r := &release{commit: "unknown"}
	if err := r.readTime(); err != nil {
		return nil, err
	}
	if commit, err := git("rev-parse", "HEAD"); err == nil {
		r.commit = commit
		if changed, err := git("status", "--porcelain"); err == nil && changed != "" {
			r.commit += "+"
		}
	}
	if version == "" {
		version = r.ownVersion()
	}
	if !semver.MatchString(version) {
		return nil, fmt.Errorf("the version %q is not like 1.2.3 or 1.2.3-rc.1", version)
	}
	r.version = "v" + strings.TrimPrefix(version, "v")
	return r, nil
}

// readTime sets r.time to SOURCE_DATE_EPOCH (reproducible-builds.org) or, if that
// is not set, to the time of the commit.
func (r *release) readTime() error {
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		var err error
		if seconds, err = git("log", "-1", "--format=%ct"); err != nil {
			return fmt.Errorf("%w; outside of a git clone give the files' time: SOURCE_DATE_EPOCH=seconds", err)
		}
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("SOURCE_DATE_EPOCH is %q, not a number of seconds since 1970", seconds)
	}
	r.time = time.Unix(n, 0).UTC()
	return nil
}

// ownVersion returns the tag of the commit. If there is none, it returns a Go
// pseudo-version such as v0.0.0-20261121073756-0123456789ab, which sorts before all
// releases.
func (r *release) ownVersion() string {
	if tag, err := git("describe", "--tags", "--exact-match", "--match", "v[0-9]*"); err == nil {
		return tag
	}
	return fmt.Sprintf("v0.0.0-%s-%.12s", r.time.Format("20060102150405"), r.commit)
}

// git runs git and returns its output.
func git(args ...string) (string, error) {
	out, err := command(nil, "git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], withStderr(err))
	}
	return strings.TrimSpace(string(out)), nil
}

// command returns a command whose environment is the caller's, with the variables
// in env added.
func command(env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

// withStderr adds to err what the command wrote to standard error.
func withStderr(err error) error {
	if e, ok := err.(*exec.ExitError); ok && len(e.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(e.Stderr)))
	}
	return err
}
