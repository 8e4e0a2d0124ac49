package share

import (
	"encoding/binary"
	"fmt"
	"math"
)

// longest is the most that one message carries, in bytes: so much that the pieces of a long string
// cost little, and less than the long messages that measurements send for their time alone,
// which a simulation may leave hollow.
const longest = 1 << 17

// send sends one message.
func (t *Tree) send(errand string, buf []byte, dst int) error {
	if err := t.comm.Send(buf, dst, t.tag); err != nil {
		return fmt.Errorf("share: rank %d: %s: send to rank %d: %w", t.comm.Rank(), errand, dst, err)
	}
	return nil
}

// receive receives one message of exactly len(buf) bytes.
func (t *Tree) receive(errand string, buf []byte, src int) error {
	if err := t.comm.Recv(buf, src, t.tag); err != nil {
		return fmt.Errorf("share: rank %d: %s: receive from rank %d: %w", t.comm.Rank(), errand, src, err)
	}
	return nil
}

// sendLong sends buf in as many messages as it takes, and one for 0 bytes.
func (t *Tree) sendLong(errand string, buf []byte, dst int) error {
	for {
		piece := buf[:min(len(buf), t.piece)]
		if err := t.send(errand, piece, dst); err != nil {
			return err
		}
		if buf = buf[len(piece):]; len(buf) == 0 {
			return nil
		}
	}
}

// receiveLong receives what sendLong sends.
func (t *Tree) receiveLong(errand string, buf []byte, src int) error {
	for {
		piece := buf[:min(len(buf), t.piece)]
		if err := t.receive(errand, piece, src); err != nil {
			return err
		}
		if buf = buf[len(piece):]; len(buf) == 0 {
			return nil
		}
	}
}

// sendAny sends a header, and as many bytes as it says.
func (t *Tree) sendAny(errand string, data []byte, dst int) error {
	if err := t.send(errand, header(len(data)), dst); err != nil || len(data) == 0 {
		return err
	}
	return t.sendLong(errand, data, dst)
}

// receiveAny receives a header, and as many bytes as it says.
func (t *Tree) receiveAny(errand string, src int) ([]byte, error) {
	length, err := t.receiveLength(errand, header(0), src)
	if err != nil {
		return nil, err
	}
	var data []byte
	for len(data) < length {
		if data, err = t.receiveMore(errand, data, length, src); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// receiveMore receives the next piece of a string of the given length, and appends it to what
// has come. The string grows as the pieces come: a message that is none of ours, taken for
// a length, does not fill the memory.
func (t *Tree) receiveMore(errand string, data []byte, length, src int) ([]byte, error) {
	come := len(data)
	data = append(data, make([]byte, min(length-come, t.piece))...)
	return data, t.receive(errand, data[come:], src)
}

// header is the message that says how many bytes are to follow.
func header(length int) []byte {
	return binary.LittleEndian.AppendUint64(nil, uint64(length))
}

// receiveLength receives a header into head and returns what it says.
func (t *Tree) receiveLength(errand string, head []byte, src int) (int, error) {
	if err := t.receive(errand, head, src); err != nil {
		return 0, err
	}
	length := binary.LittleEndian.Uint64(head)
	if length > math.MaxInt {
		return 0, fmt.Errorf("share: rank %d: %s: rank %d announces %d bytes: want at most %d", t.comm.Rank(), errand, src, length, math.MaxInt)
	}
	return int(length), nil
}
