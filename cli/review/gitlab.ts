// Implements GitLab: notes of merge requests, statuses of commits.
import { textAt } from '#cli/watch/json-fields.ts'
import type { Forge } from './forge.ts'
import { findComment, findRequest } from './pages.ts'

const projectOf = (repository: string): string => `/projects/${encodeURIComponent(repository)}`

export const gitlab: Forge = {
  apiUrl: 'https://gitlab.com/api/v4',
  headers: (token) => ({ 'private-token': token }),
  async comment(call, { repository }, number, body) {
    const self = await call('GET', '/user')
    if (!self.ok) return self
    const ownName = textAt(self.value, 'username')
    const list = `${projectOf(repository)}/merge_requests/${number}/notes`
    const isOwn = (author: string): boolean => author !== '' && author === ownName
    const found = await findComment(call, `${list}?sort=asc`, ['author', 'username'], isOwn)
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
  find: (call, { repository, commit }, head) => {
    const query = `state=opened&source_branch=${encodeURIComponent(head)}`
    const path = `${projectOf(repository)}/merge_requests?${query}`
    return findRequest(call, path, commit, { sha: ['sha'], number: 'iid' })
  },
}
