// The starting point of most tests of the feed: two tenants with a pool each, and listeners.
import { keyOf } from './config-world.ts'
import { FeedWorld, member, objectOf } from './feed-world.ts'
import type { FeedWorldOptions, Heard, Listener } from './feed-world.ts'

export const acme = keyOf('acme')
export const zenith = keyOf('zenith')

export const uids = {
  web: '01976c1e-7e5c-7000-8000-000000000001',
  secret: '01976c1e-7e5c-7000-8000-000000000002',
  member: '01976c1e-7e5c-7000-8000-000000000003',
}
export const endpoint = member('192.0.2.1', { uid: uids.member })

/** The pool of `acme`. */
export function web(members: readonly object[] = [endpoint], name = 'web') {
  return objectOf('Pool', 'acme', name, { members }, uids.web)
}

/** The pool of `zenith`. */
export function secret(...addresses: string[]) {
  const members = addresses.map((one) => member(one))
  return objectOf('Pool', 'zenith', 'secret', { members }, uids.secret)
}

const worlds: FeedWorld[] = []

/** Starts the feed with the first commit. */
export async function startFeed(options: FeedWorldOptions = {}): Promise<FeedWorld> {
  const world = await startUnreadFeed(options)
  world.commits.commit(web(), secret('198.51.100.1'))
  return world
}

/** Starts the feed of a node that has not read its configuration. */
export async function startUnreadFeed(options: FeedWorldOptions = {}): Promise<FeedWorld> {
  const world = new FeedWorld(options)
  worlds.push(world)
  await world.start()
  return world
}

export async function stopFeeds(): Promise<void> {
  for (const world of worlds.splice(0)) await world.stop()
}

export const commitOf = (count: number): string => String(count).padStart(40, '0')

export const has = (type: string) => (heard: readonly Heard[]) =>
  heard.some((one) => one.type === type)

export const ofType = ({ heard }: Listener, type: string) =>
  heard.filter((one) => one.type === type).map(({ payload }) => payload)

/** Everything heard up to that commit. */
export const told = (listener: Listener, revision: string) =>
  listener.until(`the commit ${revision}`, (heard) =>
    heard.some(({ type, payload }) => type === 'revision' && payload['revision'] === revision),
  )

/** A listener that has its snapshot. */
export async function ready(world: FeedWorld, by: string): Promise<Listener> {
  const listener = await world.connect(by)
  await listener.until('the end of the snapshot', has('revision'))
  return listener
}
