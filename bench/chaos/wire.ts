// A bad wire: a network device that returns packets late, or not at all. Run in the hub:
// node wire.ts DEVICE DELAY_MS LOSS
import { open, read, write } from 'node:fs'
import { createRequire } from 'node:module'
import type Koffi from 'koffi'

const [device = '', delayText = '0', lossText = '0'] = process.argv.slice(2)
const delayMs = Number(delayText)
const loss = Number(lossText)

/** Numbers of Linux: TUNSETIFF, IFF_TUN, IFF_NO_PI. */
const setInterface = 0x4004_54ca
const flags = 0x0001 | 0x1000
const packetMax = 65_536
/** Queue length beyond which packets are dropped, as in a router. */
const queueMax = 10_000

const koffi = createRequire(import.meta.url)('koffi') as typeof Koffi
const libc = koffi.load('libc.so.6')
const ioctl = libc.func('int ioctl(int fd, unsigned long request, void *argument)') as (
  fd: number,
  request: number,
  argument: Uint8Array,
) => number

open('/dev/net/tun', 'r+', (failed, fd) => {
  if (failed !== null) throw failed
  const request = Buffer.alloc(40)
  request.write(device, 'latin1')
  request.writeUInt16LE(flags, 16)
  if (ioctl(fd, setInterface, request) !== 0) throw new Error(`${device} cannot be made`)
  process.stdout.write('made\n')
  let queued = 0
  const next = (): void => {
    const packet = Buffer.allocUnsafe(packetMax)
    read(fd, packet, 0, packetMax, null, (error, length) => {
      if (error === null && Math.random() >= loss && queued < queueMax) {
        queued++
        setTimeout(() => {
          queued--
          write(fd, packet, 0, length, null, () => undefined)
        }, delayMs)
      }
      // The device may not be up yet: tries again.
      if (error === null) next()
      else setTimeout(next, 10)
    })
  }
  next()
})
