// Maps addresses to screens.
import type { ComponentChild } from 'preact'
import { matchPlace } from '../parts/location.ts'
import { Empty, Page } from '../parts/page.tsx'
import { Change } from '../history/change.tsx'
import { Changes } from '../history/changes.tsx'
import { Git } from '../screens/git.tsx'
import { Overview } from '../screens/overview.tsx'
import { PoolPage } from '../screens/pool.tsx'
import { Pools } from '../screens/pools.tsx'
import { ServicePage } from '../screens/service.tsx'
import { Services } from '../screens/services.tsx'
import { Trace } from '../screens/trace.tsx'
import { Audit } from '../operations/audit.tsx'
import { CoverageScreen } from '../operations/coverage.tsx'
import { Deliveries } from '../operations/deliveries.tsx'
import { Timeline } from '../operations/timeline.tsx'
import { Usage } from '../operations/usage.tsx'
import { ZonePage, Zones } from '../operations/zones.tsx'
import { MemberPage } from '../screens/member.tsx'
import { Resource } from '../resources/resource.tsx'
import { ResourceItem } from '../resources/resource-item.tsx'
import { Account } from './account.tsx'
import { titleOfPath } from '../resources/table.ts'
import { pathOf } from './navigation.ts'

type Ids = Readonly<Record<string, string>>

const screens: readonly (readonly [pattern: string, show: (ids: Ids) => ComponentChild])[] = [
  ['/', () => <Overview />],
  ['/services', () => <Services />],
  ['/services/{id}', ({ id = '' }) => <ServicePage key={id} id={id} />],
  ['/pools', () => <Pools />],
  ['/pools/{id}', ({ id = '' }) => <PoolPage key={id} id={id} />],
  ['/members/{id}', ({ id = '' }) => <MemberPage key={id} id={id} />],
  ['/timeline', () => <Timeline />],
  ['/zones', () => <Zones />],
  ['/zones/{name}', ({ name = '' }) => <ZonePage key={name} name={name} />],
  ['/coverage', () => <CoverageScreen />],
  ['/usage', () => <Usage />],
  ['/audit', () => <Audit />],
  ['/waves', () => <Deliveries />],
  ['/trace', () => <Trace />],
  ['/changes', () => <Changes />],
  ['/changes/{commit}', ({ commit = '' }) => <Change key={commit} commit={commit} />],
  ['/git', () => <Git />],
  ['/account', () => <Account />],
  [
    '/r/{name}',
    ({ name = '' }) => <Resource key={name} path={pathOf(name)} name={titleOfPath(pathOf(name))} />,
  ],
  [
    '/r/{name}/{id}',
    ({ name = '', id = '' }) => (
      <ResourceItem
        key={`${name}/${id}`}
        path={pathOf(name)}
        name={titleOfPath(pathOf(name))}
        id={id}
      />
    ),
  ],
]

export function ScreenOf({ path }: { path: string }) {
  for (const [pattern, show] of screens) {
    const ids = matchPlace(pattern, path)
    if (ids !== null) return <>{show(ids)}</>
  }
  return (
    <Page title="No such screen">
      <Empty title={`There is nothing at ${path}`}>
        <a href="#/">To the overview</a>
      </Empty>
    </Page>
  )
}
