// Frame Streams, the framing of dnstap records on a socket and in a file. A data frame is a length
// and octets; a length of 0 introduces a control frame.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export const ControlType = { Accept: 1, Start: 2, Stop: 3, Ready: 4, Finish: 5 } as const
export type ControlType = (typeof ControlType)[keyof typeof ControlType]

/** Content type of the frames. */
export const contentType = 'protobuf:dnstap.Dnstap'

export const frameLimits = {
  /** Octets of one record: two messages of 64 KiB and their metadata. */
  dataBytesMax: 256 * 1024,
  controlBytesMax: 512,
} as const

const lengthBytes = 4
/** The only field of control frames. */
const contentTypeField = 1
/** Octets of a field's type and length. */
const fieldHeadBytes = 8

/** All control frames but STOP and FINISH carry the content type. */
export function controlFrame(type: ControlType): Buffer {
  const isBare = type === ControlType.Stop || type === ControlType.Finish
  const content = isBare ? Buffer.alloc(0) : contentTypeOctets
  const frame = Buffer.alloc(lengthBytes * 3 + content.length)
  frame.writeUInt32BE(lengthBytes + content.length, lengthBytes)
  frame.writeUInt32BE(type, lengthBytes * 2)
  content.copy(frame, lengthBytes * 3)
  return frame
}

const contentTypeOctets = Buffer.concat([
  Buffer.from([0, 0, 0, contentTypeField, 0, 0, 0, contentType.length]),
  Buffer.from(contentType),
])

/** The length in front of each record. */
export function frameHead(bytes: number): Buffer {
  const head = Buffer.alloc(lengthBytes)
  head.writeUInt32BE(bytes)
  return head
}

export type Frame =
  | { readonly kind: 'data'; readonly octets: Uint8Array }
  | {
      readonly kind: 'control'
      readonly type: number
      /** Content types that the frame names; empty: any. */
      readonly contentTypes: readonly string[]
    }

/** Cuts untrusted octets into frames, whatever pieces they arrive in. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0)

  /** Octets of an incomplete frame. */
  get restBytes(): number {
    return this.#rest.length
  }

  /** @returns the frames that are now complete. Errors: a sentence; the reader is unusable then */
  push(octets: Uint8Array): Result<readonly Frame[], string> {
    const all = Buffer.concat([this.#rest, octets])
    const frames: Frame[] = []
    let at = 0
    for (;;) {
      const cut = frameAt(all, at)
      if (typeof cut === 'string') return err(cut)
      if (cut === undefined) break
      frames.push(cut.frame)
      at = cut.end
    }
    this.#rest = Buffer.from(all.subarray(at))
    return ok(frames)
  }
}

/** @returns undefined: the frame is incomplete. Errors: a sentence */
function frameAt(
  octets: Buffer,
  at: number,
): { readonly frame: Frame; readonly end: number } | string | undefined {
  if (octets.length < at + lengthBytes) return undefined
  const length = octets.readUInt32BE(at)
  const start = at + lengthBytes
  if (length > 0) {
    if (length > frameLimits.dataBytesMax) return `a frame claims ${length} octets`
    const end = start + length
    if (octets.length < end) return undefined
    return { frame: { kind: 'data', octets: Uint8Array.from(octets.subarray(start, end)) }, end }
  }
  if (octets.length < start + lengthBytes) return undefined
  const controlBytes = octets.readUInt32BE(start)
  if (controlBytes > frameLimits.controlBytesMax) {
    return `a control frame claims ${controlBytes} octets`
  }
  const end = start + lengthBytes + controlBytes
  if (octets.length < end) return undefined
  const frame = controlOf(octets.subarray(start + lengthBytes, end))
  return typeof frame === 'string' ? frame : { frame, end }
}

function controlOf(octets: Buffer): Frame | string {
  if (octets.length < lengthBytes) return 'a control frame has no type'
  const contentTypes: string[] = []
  let at = lengthBytes
  while (at < octets.length) {
    if (octets.length < at + fieldHeadBytes) return 'a field of a control frame is cut short'
    const field = octets.readUInt32BE(at)
    const length = octets.readUInt32BE(at + lengthBytes)
    at += fieldHeadBytes
    if (octets.length < at + length) return 'a field of a control frame is cut short'
    if (field === contentTypeField) contentTypes.push(octets.toString('latin1', at, at + length))
    at += length
  }
  return { kind: 'control', type: octets.readUInt32BE(0), contentTypes }
}

/** Whether the sender of this frame accepts or sends dnstap. */
export function takesDnstap(frame: Frame): boolean {
  if (frame.kind !== 'control') return false
  return frame.contentTypes.length === 0 || frame.contentTypes.includes(contentType)
}
