// The table of faults. A new one needs one row here.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { answering, controls, talkingPairs } from './hosts.ts'
import type { Host } from './hosts.ts'
import type { Network } from './network.ts'
import type { Nodes } from './nodes.ts'
import type { Stores } from './stores.ts'

export interface Fleet {
  readonly network: Network
  readonly nodes: Nodes
  readonly stores: Stores
}

export interface Fault {
  readonly name: string
  /** Begins the fault, keeps it and ends it. */
  readonly run: (fleet: Fleet, holdMs: number) => Promise<void>
}

const betweenKillsMs = 5_000
const cutMs = 4_000
const hourSeconds = 3_600
/** Machines with small disks, which a fault fills. */
export const smallDisks: readonly Host[] = [controls[1]!, answering[2]!]
const allNodes: readonly Host[] = [...controls, ...answering]
const fillBytes = 1_024 * 1_024

export const faults: readonly Fault[] = Object.freeze([
  { name: 'none', run: (_fleet, holdMs) => sleep(holdMs) },
  {
    name: 'each control node killed in turn',
    run: ({ nodes }, holdMs) => killedInTurn(nodes.controls, holdMs),
  },
  {
    name: 'each node that answers killed in turn',
    run: ({ nodes }, holdMs) => killedInTurn(nodes.answering, holdMs),
  },
  {
    name: 'Redis, Sentinels and the Git remote killed in turn',
    run: ({ stores }, holdMs) =>
      killedInTurn([...stores.redis, ...stores.sentinels, stores.git], holdMs),
  },
  {
    name: 'PostgreSQL and its standby killed in turn',
    run: ({ stores }, holdMs) => killedInTurn(stores.postgres, holdMs),
  },
  {
    name: 'every process killed in turn',
    run: ({ nodes, stores }, holdMs) =>
      killedInTurn(
        [...nodes.all, ...stores.redis, ...stores.sentinels, stores.git, ...stores.postgres],
        holdMs,
      ),
  },
  {
    name: 'each pair cut off in turn',
    run: ({ network }, holdMs) =>
      inRounds(holdMs, async () => {
        for (const [one, other] of talkingPairs()) {
          await network.cut(one, other)
          await sleep(cutMs)
          await network.heal(one, other)
        }
      }),
  },
  {
    name: 'half a second between c1, d1 and all others',
    run: (fleet, holdMs) => impaired(fleet, { delayMs: 250, loss: 0 }, holdMs),
  },
  {
    name: 'one packet in five of c1 and d1 lost',
    run: (fleet, holdMs) => impaired(fleet, { delayMs: 0, loss: 0.2 }, holdMs),
  },
  {
    name: 'half a second between all nodes',
    run: (fleet, holdMs) => impaired(fleet, { delayMs: 250, loss: 0 }, holdMs, allNodes),
  },
  {
    name: 'one packet in five of all nodes lost',
    run: (fleet, holdMs) => impaired(fleet, { delayMs: 0, loss: 0.2 }, holdMs, allNodes),
  },
  {
    name: 'full disks of c2 and d3',
    run: async ({ nodes }, holdMs) => {
      const files = smallDisks.map((host) => join(nodes.dataOf(host), 'ballast'))
      for (const file of files) fill(file)
      await sleep(holdMs)
      for (const file of files) rmSync(file)
    },
  },
  {
    name: 'clocks of c3 an hour behind, of d2 an hour ahead',
    run: async ({ nodes }, holdMs) => {
      const moved = [
        [controls[2]!, -hourSeconds],
        [answering[1]!, hourSeconds],
      ] as const
      for (const [host, seconds] of moved) {
        nodes.setClock(host, seconds)
        await nodes.of(host).crash()
      }
      await sleep(holdMs)
      for (const [host] of moved) {
        nodes.setClock(host, 0)
        await nodes.of(host).crash()
      }
    },
  },
  {
    name: 'Redis wiped',
    run: async ({ stores }, holdMs) => {
      await stores.wipeRedis()
      await sleep(holdMs)
    },
  },
  {
    name: 'both Redis stopped',
    run: async ({ stores }, holdMs) => {
      for (const one of stores.redis) await one.kill()
      await sleep(holdMs)
      for (const one of stores.redis) one.start()
    },
  },
  {
    name: 'the Git remote is gone',
    run: async ({ stores }, holdMs) => {
      await stores.git.kill()
      await sleep(holdMs)
      stores.git.start()
    },
  },
  {
    name: 'a bundle of somebody else published',
    run: async ({ stores }, holdMs) => {
      stores.hostile.start()
      await sleep(holdMs)
      await stores.hostile.kill()
    },
  },
  {
    name: 'PostgreSQL fails over',
    run: async ({ stores }, holdMs) => {
      await stores.postgres[0]!.kill()
      await sleep(betweenKillsMs)
      await stores.promote()
      await sleep(holdMs)
    },
  },
  {
    name: 'Redis, PostgreSQL and all control nodes are gone',
    run: async ({ nodes, stores }, holdMs) => {
      const gone = [...nodes.controls, ...stores.redis, stores.postgres[1]!]
      for (const one of gone) await one.kill()
      await sleep(holdMs)
      for (const one of gone.reverse()) one.start()
    },
  },
] satisfies readonly Fault[])

/** Runs whole rounds, at least one. */
async function inRounds(holdMs: number, round: () => Promise<void>): Promise<void> {
  const endMs = performance.now() + holdMs
  do await round()
  while (performance.now() < endMs)
}

const killedInTurn = (
  programs: readonly { readonly crash: () => Promise<void> }[],
  holdMs: number,
): Promise<void> =>
  inRounds(holdMs, async () => {
    for (const program of programs) {
      await program.crash()
      await sleep(betweenKillsMs)
    }
  })

async function impaired(
  { network }: Fleet,
  impairment: Parameters<Network['impair']>[1],
  holdMs: number,
  hosts: readonly Host[] = [controls[0]!, answering[0]!],
): Promise<void> {
  for (const host of hosts) await network.impair(host, impairment)
  await sleep(holdMs)
  for (const host of hosts) await network.repair(host)
}

/** Writes until the disk is full. */
function fill(file: string): void {
  const fd = openSync(file, 'w')
  const block = new Uint8Array(fillBytes)
  try {
    while (writeSync(fd, block) > 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    closeSync(fd)
  }
}
