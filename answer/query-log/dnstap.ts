// Encodes logged queries as dnstap: the fields of dnstap.proto that an authoritative server knows,
// with the choice of members as JSON in the field `extra`.
import { FieldWriter } from '#lib/protobuf.ts'
import { maskAddress, maskMessage } from './client-mask.ts'
import { frameLimits } from './frame-stream.ts'
import type { LoggedQuery } from './logged-queries.ts'
import { memberNames, reasonOf } from './reason.ts'

/** Field numbers of the message `Dnstap`. */
export const DnstapField = { Identity: 1, Version: 2, Extra: 3, Message: 14, Type: 15 } as const

/** Field numbers of its inner message `Message`. */
export const MessageField = {
  Type: 1,
  SocketFamily: 2,
  SocketProtocol: 3,
  QueryAddress: 4,
  QueryPort: 6,
  QueryTimeSec: 8,
  QueryTimeNsec: 9,
  QueryMessage: 10,
  ResponseTimeSec: 12,
  ResponseTimeNsec: 13,
  ResponseMessage: 14,
} as const

export const DnstapType = { Message: 1 } as const
export const MessageType = { AuthQuery: 1, AuthResponse: 2 } as const
const SocketFamily = { Inet: 1, Inet6: 2 } as const
/** Numbers of dnstap.proto. */
export const SocketProtocol = { udp: 1, tcp: 2, dot: 3, doh: 4 } as const

/** The JSON in `extra`. Empty fields are left out. */
export interface Extra {
  readonly tenant?: string
  readonly service?: string
  /** The first member; by its address where it has no name. */
  readonly member?: string
  /** The first four members, where there are several. */
  readonly members?: readonly string[]
  /** The pool that the members were chosen from. */
  readonly pool?: string
  /** The pool is not the service's own. */
  readonly fallback?: true
  /** The algorithm or filters that chose, else a word for how the answer came about. */
  readonly reason: string
  /** The turn of a service that takes turns. Other threads may take turns in between. */
  readonly turn?: number
  /** The seed of the random numbers; with it the same draws can be repeated. */
  readonly seed?: number
  readonly commit: string
  readonly digest: string
  readonly node: string
  /** Addresses of clients are truncated. */
  readonly truncated?: true
}

export interface EncoderSettings {
  /** Name of this node. */
  readonly node: string
  readonly version: string
  readonly truncateClients: boolean
}

export class DnstapEncoder {
  readonly #settings: EncoderSettings
  readonly #identity: Uint8Array
  readonly #version: Uint8Array
  readonly #record = new FieldWriter(frameLimits.dataBytesMax)
  readonly #message = new FieldWriter(frameLimits.dataBytesMax)

  constructor(settings: EncoderSettings) {
    this.#settings = settings
    this.#identity = Buffer.from(settings.node)
    this.#version = Buffer.from(settings.version)
  }

  /** Encodes a response with its query; the query alone where no reply was sent. @returns a view */
  encode(logged: LoggedQuery): Uint8Array {
    return this.#record
      .clear()
      .bytes(DnstapField.Identity, this.#identity)
      .bytes(DnstapField.Version, this.#version)
      .bytes(DnstapField.Extra, Buffer.from(JSON.stringify(extraOf(logged, this.#settings))))
      .bytes(DnstapField.Message, this.#messageOf(logged))
      .number(DnstapField.Type, DnstapType.Message).octets
  }

  #messageOf(logged: LoggedQuery): Uint8Array {
    const { client, clientPort, askedMs, answeredMs, protocol, replyBytes } = logged
    const { truncateClients } = this.#settings
    const kept = (octets: Uint8Array): Uint8Array | undefined =>
      truncateClients ? maskMessage(octets) : octets
    const message = this.#message
      .clear()
      .number(MessageField.Type, replyBytes > 0 ? MessageType.AuthResponse : MessageType.AuthQuery)
      .number(
        MessageField.SocketFamily,
        client.length === 4 ? SocketFamily.Inet : SocketFamily.Inet6,
      )
      .number(MessageField.SocketProtocol, SocketProtocol[protocol])
      .bytes(MessageField.QueryAddress, truncateClients ? maskAddress(client) : client)
    if (!truncateClients) message.number(MessageField.QueryPort, clientPort)
    message
      .number(MessageField.QueryTimeSec, Math.floor(askedMs / 1_000))
      .fixed32(MessageField.QueryTimeNsec, nanosecondsOf(askedMs))
    const query = kept(logged.query)
    if (query !== undefined) message.bytes(MessageField.QueryMessage, query)
    if (replyBytes === 0) return message.octets
    message
      .number(MessageField.ResponseTimeSec, Math.floor(answeredMs / 1_000))
      .fixed32(MessageField.ResponseTimeNsec, nanosecondsOf(answeredMs))
    const reply = logged.reply === undefined ? undefined : kept(logged.reply)
    if (reply !== undefined) message.bytes(MessageField.ResponseMessage, reply)
    return message.octets
  }
}

const nanosecondsOf = (ms: number): number => Math.floor((ms % 1_000) * 1e6)

function extraOf(logged: LoggedQuery, { node, truncateClients }: EncoderSettings): Extra {
  const { choice, commit, digest, seed } = logged
  const names = memberNames(logged)
  const [member] = names
  return {
    ...(choice === null ? {} : { tenant: choice.tenant, service: choice.service }),
    ...(member === undefined || member === '' ? {} : { member }),
    ...(names.length > 1 ? { members: names } : {}),
    ...(choice === null || choice.pool === '' ? {} : { pool: choice.pool }),
    ...(choice?.isFallback === true ? { fallback: true as const } : {}),
    reason: reasonOf(logged),
    ...(choice?.turn === undefined ? {} : { turn: choice.turn }),
    ...(choice === null ? {} : { seed }),
    commit,
    digest,
    node,
    ...(truncateClients ? { truncated: true as const } : {}),
  }
}
