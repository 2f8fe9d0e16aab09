// Implements GitLab: notes of merge requests, statuses of commits.
import { listAt, numberAt, textAt } from '#cli/watch/json-fields.ts'
import { ok } from '#lib/result.ts'
import { bodyAt } from './body-at.ts'
import type { Forge } from './forge.ts'
import { findComment } from './pages.ts'

const projectOf = (repository: string): string => `/projects/${encodeURIComponent(repository)}`

export const gitlab: Forge = {
  apiUrl: 'https://gitlab.com/api/v4',
  headers: (token) => ({ 'private-token': token }),
  async comment(call, { repository }, number, body) {
    const self = await call('GET', '/user')
    if (!self.ok) return self
    const ownName = textAt(self.value, 'username')
    const list = `${projectOf(repository)}/merge_requests/${number}/notes`
    const found = await findComment(
      call,
      `${list}?sort=asc`,
      (row) => {
        const id = numberAt(row, 'id')
        const author = textAt(row, 'author', 'username')
        return id === null ? null : { id, author, body: bodyAt(row) }
      },
      (author) => author !== '' && author === ownName,
    )
    if (!found.ok) return found
    if (found.value === null) return call('POST', list, { body })
    return call('PUT', `${list}/${found.value}`, { body })
  },
  status: (call, { repository, commit, detailsUrl }, { state, verdict }) =>
    call('POST', `${projectOf(repository)}/statuses/${commit}`, {
      ...{ state: state === 'failure' ? 'failed' : state, name: 'gslbd' },
      description: verdict.slice(0, 140),
      ...(detailsUrl === '' ? {} : { target_url: detailsUrl }),
    }),
  async find(call, { repository, commit }, head) {
    const query = `state=opened&source_branch=${encodeURIComponent(head)}`
    const listed = await call('GET', `${projectOf(repository)}/merge_requests?${query}`)
    if (!listed.ok) return listed
    const own = listAt({ listed: listed.value }, 'listed').find(
      (row) => textAt(row, 'sha') === commit,
    )
    return ok(own === undefined ? null : numberAt(own, 'iid'))
  },
}
