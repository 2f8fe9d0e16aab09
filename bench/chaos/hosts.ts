// The machines of the fleet under faults: their names, numbers and addresses.

export interface Host {
  readonly name: string
  /** Part of its addresses. */
  readonly number: number
}

const hosts = (names: readonly string[], first: number): readonly Host[] =>
  names.map((name, i) => ({ name, number: first + i }))

/** The hub, where every link of the control network ends. */
export const hub = 'hub'
/** The clients, which query over links of their own, untouched by faults of the control network. */
export const clients = 'clients'

export const controls = hosts(['c1', 'c2', 'c3'], 1)
export const answering = hosts(['d1', 'd2', 'd3', 'd4', 'd5'], 11)
export const redises = hosts(['r1', 'r2'], 21)
export const databases = hosts(['p1', 'p2'], 31)
/** Has the Git remote, the third Sentinel, and a source of bundles that must not be trusted. */
export const git: Host = { name: 'g', number: 41 }
export const sentinels: readonly Host[] = [...redises, git]
export const allHosts: readonly Host[] = [...controls, ...answering, ...redises, ...databases, git]

export const ports = {
  dns: 53,
  api: 8_080,
  redis: 6_379,
  sentinel: 26_379,
  postgres: 5_432,
  git: 8_000,
  hostile: 8_001,
} as const

/** Address in the control network. */
export const controlAddress = ({ number }: Host): string => `10.9.${number}.2`
/** Address for queries of the clients. */
export const queryAddress = ({ number }: Host): string => `10.8.${number}.2`

/** Pairs of machines that communicate in the control network. */
export function talkingPairs(): readonly (readonly [Host, Host])[] {
  const pairs: (readonly [Host, Host])[] = []
  const join = (some: readonly Host[], others: readonly Host[]): void => {
    for (const one of some) for (const other of others) pairs.push([one, other])
  }
  join(answering, controls)
  join(answering, redises)
  join(controls, redises)
  join(controls, databases)
  join(controls, [git])
  // Its Sentinel, and for one machine the untrusted source.
  join(answering, [git])
  join([redises[0]!], [redises[1]!])
  join([databases[0]!], [databases[1]!])
  join(redises, [git])
  return pairs
}
