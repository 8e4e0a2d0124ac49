package netlab

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// fabricAddr and controlAddr are the addresses of host i. They live in
// namespaces without a way out, so they are the same in every lab; the control
// namespace itself has the address of host maxHosts.
func fabricAddr(i int) net.IP  { return net.IPv4(10, 88, 0, byte(i+1)) }
func controlAddr(i int) net.IP { return net.IPv4(10, 89, 0, byte(i+1)) }

// networkBits are the leading bits of an address that name its network.
const networkBits = 24

// hardwareAddr is the Ethernet address of host i in the fabric, locally
// administered; the fabric finds the host in its last byte.
func hardwareAddr(i int) net.HardwareAddr {
	return net.HardwareAddr{0x02, 'n', 'e', 't', 0, byte(i)}
}

// A namespace is a machine of the lab: a network, a name and the shared-memory
// objects of its own, kept alive by open files.
type namespace struct {
	name          string
	net, uts, ipc *os.File
	tap           int // -1 in the control namespace
}

// newNamespace makes an empty machine and calls setup inside it.
func newNamespace(name string, setup func(ns *namespace) error) (*namespace, error) {
	ns := &namespace{name: name, tap: -1}
	// The thread's namespaces live on in the open files.
	if err := onOwnThread(func() error { return ns.enterNew(setup) }); err != nil {
		ns.close()
		return nil, fmt.Errorf("netlab: host %s: %w", name, err)
	}
	return ns, nil
}

func (ns *namespace) enterNew(setup func(ns *namespace) error) error {
	if err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	if err := unix.Sethostname([]byte(ns.name)); err != nil {
		return fmt.Errorf("sethostname: %w", err)
	}
	for _, n := range []struct {
		kind string
		file **os.File
	}{{"net", &ns.net}, {"uts", &ns.uts}, {"ipc", &ns.ipc}} {
		f, err := os.Open("/proc/thread-self/ns/" + n.kind)
		if err != nil {
			return err
		}
		*n.file = f
	}
	// No addresses of our own choosing, no neighbour discovery on the wire: of all interfaces, and of those to come.
	if err := sysctl("net/ipv6/conf/all/disable_ipv6"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return err
	}
	return setup(ns)
}

func (ns *namespace) close() {
	for _, f := range []*os.File{ns.net, ns.uts, ns.ipc} {
		if f != nil {
			f.Close()
		}
	}
	if ns.tap >= 0 {
		unix.Close(ns.tap)
	}
}

// newControl makes the namespace of the launchers.
func newControl() (*namespace, error) {
	return newNamespace(control, func(*namespace) error {
		bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: controlDevice}}
		if err := netlink.LinkAdd(bridge); err != nil {
			return fmt.Errorf("bridge: %w", err)
		}
		return setUp(bridge, controlAddr(maxHosts))
	})
}

// newHost makes host i of the cluster, wired to the control namespace.
func newHost(c *Cluster, i int, ctl *namespace) (*namespace, error) {
	return newNamespace(c.Graph.Name(i), func(ns *namespace) error {
		// The settings that make runs repeatable: explicit congestion notification
		// asked for, nothing remembered from earlier connections.
		for _, key := range []string{"net/ipv4/tcp_ecn", "net/ipv4/tcp_no_metrics_save"} {
			if err := sysctl(key); err != nil {
				return err
			}
		}
		if err := ns.wireFabric(c, i); err != nil {
			return fmt.Errorf("%s: %w", fabricDevice, err)
		}
		if err := wireControl(i, ctl); err != nil {
			return fmt.Errorf("%s: %w", controlDevice, err)
		}
		return nil
	})
}

// wireFabric makes the TAP whose other end is the fabric.
func (ns *namespace) wireFabric(c *Cluster, i int) error {
	var err error
	if ns.tap, err = openTAP(fabricDevice); err != nil {
		return err
	}
	dev, err := netlink.LinkByName(fabricDevice)
	if err != nil {
		return err
	}
	const queued = 10_000 // frames
	err = errors.Join(netlink.LinkSetMTU(dev, c.MTU), netlink.LinkSetHardwareAddr(dev, hardwareAddr(i)), netlink.LinkSetTxQLen(dev, queued))
	if err != nil {
		return fmt.Errorf("mtu %d, address, queue: %w", c.MTU, err)
	}
	if err := setUp(dev, fabricAddr(i)); err != nil {
		return err
	}
	if c.Queues.BackPressure {
		if err := limitRate(dev, nicRate(c, i), c.MTU); err != nil {
			return fmt.Errorf("back pressure: %w", err)
		}
	}
	// Neighbours are written down: address resolution would be traffic.
	for j := range c.Graph.Hosts() {
		if j == i {
			continue
		}
		err := netlink.NeighAdd(&netlink.Neigh{
			LinkIndex: dev.Attrs().Index, State: netlink.NUD_PERMANENT,
			IP: fabricAddr(j), HardwareAddr: hardwareAddr(j),
		})
		if err != nil {
			return fmt.Errorf("neighbour: %w", err)
		}
	}
	return congestionControl(dev, i)
}

// congestionControl makes the host's connections over the fabric use cubic. A
// route may name it even where the machine's settings let a namespace not
// choose it as its default, so nothing outside the namespace changes.
func congestionControl(dev netlink.Link, i int) error {
	mask := net.CIDRMask(networkBits, 32)
	route := &netlink.Route{
		LinkIndex: dev.Attrs().Index, Dst: &net.IPNet{IP: fabricAddr(0).Mask(mask), Mask: mask}, Src: fabricAddr(i),
		Scope: netlink.SCOPE_LINK, Protocol: unix.RTPROT_KERNEL, Congctl: "cubic",
	}
	if err := netlink.RouteReplace(route); err != nil {
		return fmt.Errorf("congestion control cubic: %w", err)
	}
	return nil
}

// nicRate is the rate in B/s at which host i can send.
func nicRate(c *Cluster, i int) float64 {
	rate := 0.0
	for _, a := range c.Graph.Out(i) {
		rate = max(rate, a.Bandwidth)
	}
	return rate
}

// limitRate puts a token bucket before the device, so that what cannot be
// sent yet stays in the kernel, where TCP sees it.
func limitRate(dev netlink.Link, rate float64, mtu int) error {
	burst := 2 * (mtu + ethernetHeader)
	return netlink.QdiscReplace(&netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: dev.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate:       uint64(rate),
		Limit:      8 << 20,
		Buffer:     netlink.Xmittime(uint64(rate), uint32(burst)),
	})
}

// wireControl joins the calling thread's host to the bridge of the launchers.
func wireControl(i int, ctl *namespace) error {
	port := fmt.Sprintf("p%d", i)
	host := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: controlDevice},
		PeerName:  port, PeerNamespace: netlink.NsFd(ctl.net.Fd()),
	}
	if err := netlink.LinkAdd(host); err != nil {
		return err
	}
	if err := setUp(host, controlAddr(i)); err != nil {
		return err
	}
	// The other end, in the control namespace.
	return ctl.inside(func() error {
		dev, err := netlink.LinkByName(port)
		if err != nil {
			return err
		}
		bridge, err := netlink.LinkByName(controlDevice)
		if err != nil {
			return err
		}
		return errors.Join(netlink.LinkSetMaster(dev, bridge), netlink.LinkSetUp(dev))
	})
}

// inside calls f on a thread that is in the namespace.
func (ns *namespace) inside(f func() error) error {
	return onOwnThread(func() error {
		if err := unix.Setns(int(ns.net.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("setns: %w", err)
		}
		return f()
	})
}

// onOwnThread calls f on a thread that ends afterwards, and may so be moved to
// other namespaces. The main thread is none: it would not end, and its
// namespaces are taken for those of the process.
func onOwnThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked, so that the thread ends with the goroutine
		if unix.Gettid() == os.Getpid() {
			defer runtime.UnlockOSThread()
			done <- onOwnThread(f) // this goroutine keeps the main thread meanwhile
			return
		}
		done <- f()
	}()
	return <-done
}

// setUp gives the device an address and sets it up.
func setUp(dev netlink.Link, ip net.IP) error {
	addr := &netlink.Addr{IPNet: &net.IPNet{IP: ip, Mask: net.CIDRMask(networkBits, 32)}}
	if err := netlink.AddrAdd(dev, addr); err != nil {
		return fmt.Errorf("address %s: %w", ip, err)
	}
	return netlink.LinkSetUp(dev)
}

// openTAP makes a TAP device in the calling thread's network and returns its
// other end, non-blocking. The device goes away when that is closed.
func openTAP(name string) (int, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return -1, fmt.Errorf("/dev/net/tun: %w", err)
	}
	req, err := unix.NewIfreq(name)
	if err == nil {
		req.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, req)
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("tap: %w", err)
	}
	return fd, nil
}

// sysctl sets a kernel parameter of the calling thread's namespaces to 1.
func sysctl(key string) error {
	if err := os.WriteFile("/proc/sys/"+key, []byte("1"), 0); err != nil {
		return fmt.Errorf("sysctl %s=1: %w", strings.ReplaceAll(key, "/", "."), err)
	}
	return nil
}
