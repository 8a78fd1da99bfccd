import { Module } from '@nestjs/common';
import { FileSearch } from './file-search.js';
import { FilesService } from './files.service.js';
import { VectorStoreFilesService } from './vector-store-files.service.js';
import { VectorStoresService } from './vector-stores.service.js';

const SERVICES = [FileSearch, FilesService, VectorStoreFilesService, VectorStoresService];

/** Files of accounts, vector stores, and searching them. */
@Module({ providers: SERVICES, exports: SERVICES })
export class FileSearchModule {}
