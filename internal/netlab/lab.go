package netlab

import (
	"cmp"
	"errors"
	"time"
)

// ErrUnavailable is returned, wrapped, where a lab cannot be made: on systems
// other than Linux from 5.14 on, without root's rights, without TAP devices.
var ErrUnavailable = errors.New("a lab needs Linux 5.14, root and /dev/net/tun")

// ErrUp is returned, wrapped, by Up if the lab is up already.
var ErrUp = errors.New("the lab is up already")

// ErrDown is returned, wrapped, by Open if there is no such lab.
var ErrDown = errors.New("the lab is not up")

// Settings say where labs live. The zero value works inside the command.
type Settings struct {
	// Dir is the directory of the labs; "" is /run/netlab. Labs of different
	// directories know nothing of each other, and do not collide either.
	Dir string

	// Command is the netlab command, which also plays the fabric and the
	// agent; "" is the running program.
	Command string

	// Leash makes Up tie the lab to this program: it goes when the program
	// ends, however that comes about.
	Leash bool

	// Timeout bounds the start of a lab; 0 is a minute.
	Timeout time.Duration
}

func (s *Settings) timeout() time.Duration { return cmp.Or(s.Timeout, time.Minute) }

// control is the name of the namespace in which launchers run. Its interface
// is a bridge to all hosts, which no measured traffic crosses.
const control = "control"

// The names of the interfaces inside the namespaces.
const (
	fabricDevice  = "fab0"
	controlDevice = "ctl0"
)

// A Machine is a host of a running lab, or its control namespace.
type Machine struct {
	Name    string `json:"name"`
	Address string `json:"address,omitempty"` // in the measured network
	Control string `json:"control"`           // in the launchers' network
	Net     string `json:"net"`               // files to enter its namespaces by
	UTS     string `json:"uts"`
	IPC     string `json:"ipc"`
	Inode   uint64 `json:"inode"`  // of Net
	Cookie  uint64 `json:"cookie"` // of Net: given out once only, as inodes are not
}

// state is what a running fabric leaves in its directory for others to read.
type state struct {
	Format   string    `json:"format"`
	Version  int       `json:"version"`
	PID      int       `json:"pid"`
	CPUs     []int     `json:"cpus"` // for ranks; empty: any
	Machines []Machine `json:"machines"`
}

const stateFormat = "topocast/netlab-state"

// The files of a lab's directory.
const (
	lockFile    = "lock"     // held by the fabric
	jobLock     = "run.lock" // held while a job runs
	stateFile   = "state.json"
	clusterName = "cluster.json"
	socketFile  = "socket"
	agentFile   = "agent"
	hostsFile   = "hosts"
	logFile     = "log"
	tempDir     = "tmp"
)

// bootFile is the file of a machine's boot id.
func bootFile(name string) string { return "boot_id-" + name }
