// The client-subnet option for tests. RFC 7871 section 6.
import { OptionCode } from './codes.ts'
import type { EdnsOption, Opt } from './message.ts'
import { uint16 } from './rdata.ts'

interface Ecs {
  readonly family: number
  readonly source: number
  readonly scope: number
  /** Hex of the address octets. */
  readonly address: string
}

/** @param address hex of the octets that go on the wire, right or wrong */
export function ecs(family: number, source: number, scope: number, address: string): EdnsOption {
  const octets = Buffer.from(address, 'hex')
  const data = Buffer.concat([uint16(family), Buffer.from([source, scope]), octets])
  return { code: OptionCode.ECS, data }
}

export function ecsOf(opt: Opt | undefined): Ecs | undefined {
  const data = opt?.options.find(({ code }) => code === OptionCode.ECS)?.data
  if (data === undefined) return undefined
  return {
    family: data.readUInt16BE(0),
    source: data.readUInt8(2),
    scope: data.readUInt8(3),
    address: data.toString('hex', 4),
  }
}
